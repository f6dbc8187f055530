"""Work on a Dask cluster. Dask is imported where a cluster is asked for, and nowhere else."""
