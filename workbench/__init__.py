"""A workbench for text-to-SQL research: cached model calls, safe execution, honest judging."""

# Nothing is imported here: the worker that runs untrusted SQL imports this package without site-packages.
