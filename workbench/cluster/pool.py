"""Work on a Dask cluster: chunks go to its workers, and what they compute comes into this process's cache.

    with open_pool("local:4") as client:
        for name, result in each(client, do, {name: item}, lab): ...

`do(item, lab)` runs on a worker with a lab like this one. It is a function of a module. Dask runs the chunk of a lost
worker again, and its result is the same, since keys of the cache are hashes of what results depend on.
"""

import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any, TypeVar

from workbench.errors import BadInputError, ClusterError
from workbench.lab import Lab
from workbench.store import Store

try:
    import dask
    import distributed
    from distributed.scheduler import KilledWorker
except ModuleNotFoundError as missing:
    raise BadInputError("install Dask: pip install 'text2sql-workbench[cluster]'") from missing

from workbench.cluster.relay import Relay
from workbench.cluster.worker import Driver, run_chunk, versions

T = TypeVar("T")
_AGAIN = "the results so far are cached: run the same again to go on"
_SILENT = logging.CRITICAL + 1  # Dask would log each lost connection
_FIELDS = ("system", "parameters", "structured", "limits", "at_once")


@contextmanager
def open_pool(cluster: "str | distributed.Client") -> Iterator[distributed.Client]:
    """A client of a scheduler's address or file, or of new workers here: "local:4" starts four."""
    if isinstance(cluster, distributed.Client):
        yield cluster
        return
    logging.getLogger("distributed").setLevel(_SILENT)
    kind, _, count = cluster.partition(":")
    local = int(count) if kind == "local" and count.isdecimal() else 0
    if not (local or "://" in cluster or Path(cluster).is_file()):
        raise BadInputError(
            f"cluster {cluster!r}: give the address of a Dask scheduler, as tcp://HOST:8786, its scheduler file, or"
            " local: and a number of workers, as local:4"
        )
    with ExitStack() as opened:
        if local:
            # A worker would spend up to a twentieth of its time on samples of its stack.
            opened.enter_context(dask.config.set({"distributed.worker.profile.enabled": False}))
            started = distributed.LocalCluster(
                n_workers=local, threads_per_worker=1, dashboard_address=":0", silence_logs=_SILENT
            )
            cluster = opened.enter_context(started).scheduler_address
        by = "address" if "://" in cluster else "scheduler_file"
        try:
            client = distributed.Client(**{by: cluster}, timeout=20)
        except (OSError, ValueError) as error:
            raise ClusterError(
                f"no Dask scheduler answers at {cluster} ({error}): start one by `dask scheduler`"
            ) from error
        yield opened.enter_context(client)


def each(
    client: distributed.Client, do: Callable[[T, Lab], Any], items: Mapping[str, T], lab: Lab
) -> Iterator[tuple[str, Any]]:
    """The name and the result of each item, as they come; what was computed for it is in the lab's cache by then.

    After an error or Ctrl-C, models are asked nothing more, and the replies under way are stored.
    """
    client.get_versions(check=True)  # warns of workers with other packages
    relay = Relay(client, lab)
    files = lab.prompts.rglob("*.md") if lab.prompts else ()
    texts = {str(file.relative_to(lab.prompts or "")): file.read_text("utf-8") for file in files}
    settings = {field: getattr(lab, field) for field in _FIELDS}
    driver = Driver(relay.address, relay.token, versions(), settings, texts)
    names: dict[Any, str] = {}  # of the chunks under way, by their futures

    def submit(name: str) -> Any:
        future = client.submit(run_chunk, items[name], do=do, driver=driver, pure=False)
        names[future] = name
        return future

    lost: set[str] = set()
    named = ""
    try:
        chunks = distributed.as_completed(map(submit, items))
        for future in chunks:
            name = names.pop(future)  # so that Dask forgets its result
            if future.status == "finished":
                result, rows = future.result()
                _merge(rows, lab.client.cache)
                yield name, result
            elif future.status != "error":
                raise relay.failure or ClusterError(f"the scheduler is lost; {_AGAIN}")
            elif not isinstance(future.exception(), KilledWorker):
                raise relay.failure or future.exception()
            elif name in lost:  # the other chunks go on
                named = name
            else:  # Dask has tried four workers, each of which may have been killed for another chunk
                lost.add(name)
                chunks.add(submit(name))
        if named:
            raise ClusterError(f"{named}: every worker that ran this ended; {_AGAIN}")
        relay.close()
    except BaseException:
        with suppress(OSError, RuntimeError, TimeoutError):  # the scheduler may be lost
            client.cancel(list(names), force=True)
        with lab.client.stopped():
            relay.close()
        raise


def _merge(rows: Mapping[str, Sequence[Sequence[Any]]], store: Store) -> None:
    with store.write(durable=False) as db:
        for table, new in ((table, new) for table, new in rows.items() if new):
            marks = ", ".join("?" * len(new[0]))
            db.executemany(f"INSERT OR IGNORE INTO {table} VALUES ({marks})", new)
