"""Apply a function to many items: in threads of this process, or on the workers of a Dask cluster.

`each` is the first, and `cluster.Cluster` the second. Dask is imported where a cluster is asked for, and nowhere else.
"""

from workbench.parallel.threads import each as each
