"""Small databases on which two queries differ.

In reading order: `rules` is what a database has to keep, `touched` the real rows to start from, `near` values next
to the queries' constants, `change` one random change of rows, `keep` makes rows keep the rules again, `claim` says
when two queries differ, `search` puts these together and `shrink` makes what it found small. `candidates` groups
the queries of a pool by meaning.
"""
