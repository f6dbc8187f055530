"""What is shown of results: the papers' numbers, tables beside them, figures. Knows of no run."""
