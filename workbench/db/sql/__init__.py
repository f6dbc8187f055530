"""Read facts of a query from its text alone. Only this folder imports sqlglot, and no other folder sees its trees.

Every function is pure and reads its text as one SQLite query. Models write SQL that no parser accepts, so
unreadable text raises no exception: each function documents what it returns for such a text.
"""
