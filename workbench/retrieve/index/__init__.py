"""The index of text values of a database: what is read, how it is stored, and two kinds of search."""
