"""What runs on a worker of a cluster."""
