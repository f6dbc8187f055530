"""Open a cluster: by its scheduler's address or file, as new workers on this machine, or by a client of the user's."""

import logging
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from workbench.errors import BadInputError, ClusterError

try:
    import dask
    import distributed
except ModuleNotFoundError as missing:
    raise BadInputError("a cluster needs Dask: pip install 'workbench[cluster]'") from missing

from workbench.cluster.tasks import Cluster

__all__ = ["Cluster", "open_cluster"]

_CONNECT = 20.0  # seconds for the connection to a scheduler
_SILENT = logging.CRITICAL + 1
# At Dask's own intervals of 10 to 500 ms, monitoring a worker takes a tenth of its time; tasks here take seconds.
_MONITORING = {
    "distributed.admin.system-monitor.disk": False,
    "distributed.admin.system-monitor.interval": "5s",
    "distributed.admin.tick.interval": "1s",
    "distributed.scheduler.work-stealing-interval": "500ms",
    "distributed.worker.memory.monitor-interval": "500ms",
    "distributed.worker.profile.enabled": False,
}


@contextmanager
def open_cluster(cluster: "str | distributed.Client") -> Iterator[Cluster]:
    """The cluster of a client, or of a scheduler's address or file; "local:4" starts 4 workers on this machine."""
    if isinstance(cluster, distributed.Client):
        opened = Cluster(cluster)
        try:
            yield opened
        finally:
            opened.close()
        return
    # Dask logs each lost connection, some with a traceback; the run itself reports in one line if it must end.
    logging.getLogger("distributed").setLevel(_SILENT)
    with client_of(cluster) as client, open_cluster(client) as opened:
        yield opened


@contextmanager
def client_of(cluster: str) -> Iterator[distributed.Client]:
    """A client of the scheduler at an address or in a file; "local:4" starts 4 workers on this machine."""
    kind, _, count = cluster.partition(":")
    with ExitStack() as opened:
        given = {"address": cluster}
        if kind == "local":
            given["address"] = opened.enter_context(_new_cluster(cluster, count)).scheduler_address
        elif "://" not in cluster:
            given = {"scheduler_file": cluster}
            if not Path(cluster).is_file():
                raise BadInputError(
                    f"cluster {cluster!r}: give the address of a Dask scheduler, as tcp://HOST:8786, its scheduler"
                    " file, or local: and a number of workers, as local:4"
                )
        try:
            client = distributed.Client(**given, timeout=_CONNECT)
        except (OSError, ValueError) as error:
            (address,) = given.values()
            raise ClusterError(
                f"no Dask scheduler answers at {address}: {error}; start it with `dask scheduler`, or check the"
                " address"
            ) from error
        yield opened.enter_context(client)


def _new_cluster(cluster: str, workers: str) -> distributed.LocalCluster:
    """A scheduler with so many workers on this machine."""
    if not workers.isdecimal() or int(workers) < 1:
        raise BadInputError(f"cluster {cluster!r}: give local: and a number of workers, as local:4")
    with dask.config.set(_MONITORING):
        return distributed.LocalCluster(
            n_workers=int(workers),
            threads_per_worker=1,
            dashboard_address="127.0.0.1:0",
            silence_logs=_SILENT,
        )
