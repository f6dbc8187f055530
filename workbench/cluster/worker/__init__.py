"""The code that runs on a worker of a cluster."""
