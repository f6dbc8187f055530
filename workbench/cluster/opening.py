"""Open a cluster: by its scheduler's address or file, as new workers on this machine, or by a client of the user's."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager
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
    with _address_of(cluster) as address:
        file = "" if "://" in address else address
        if file and not Path(file).is_file():
            raise BadInputError(
                f"cluster {address!r}: give the address of a Dask scheduler, as tcp://HOST:8786, its scheduler file,"
                " or local: and a number of workers, as local:4"
            )
        given = {"scheduler_file": file} if file else {"address": address}
        try:
            client = distributed.Client(**given, timeout=_CONNECT)
        except (OSError, ValueError) as error:
            raise ClusterError(
                f"no Dask scheduler answers at {address}: {error}; start it with `dask scheduler`, or check the"
                " address"
            ) from error
        with client:
            yield client


@contextmanager
def _address_of(cluster: str) -> Iterator[str]:
    """The given address or file; for "local:4", the address of a new scheduler with 4 workers on this machine."""
    kind, _, count = cluster.partition(":")
    if kind != "local":
        yield cluster
        return
    if not count.isdecimal() or int(count) < 1:
        raise BadInputError(f"cluster {cluster!r}: give local: and a number of workers, as local:4")
    with dask.config.set(_MONITORING):
        started = distributed.LocalCluster(
            n_workers=int(count),
            threads_per_worker=1,
            dashboard_address="127.0.0.1:0",
            silence_logs=_SILENT,
        )
    with started:
        yield started.scheduler_address
