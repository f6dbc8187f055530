"""What the papers printed, one module a paper."""
