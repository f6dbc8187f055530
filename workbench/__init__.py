"""A workbench for text-to-SQL research: cached model calls, safe execution, honest judging."""
