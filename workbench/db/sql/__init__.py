"""Facts of a query from its text alone. Only this folder imports sqlglot, and no tree leaves it.

Every function is pure and reads its text as one SQLite query. Models write SQL that no parser accepts, so
unreadable text is never an exception: each function says what it returns for it.
"""
