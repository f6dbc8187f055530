"""What can be known of a query from its text. The one folder that knows sqlglot, whose trees stay in it.

Everything here is a pure function of the text, read as one SQLite query. Models write SQL that no parser
accepts, so that is never an exception: each function says what it answers then.
"""
