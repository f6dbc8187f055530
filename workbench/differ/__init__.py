"""Small databases on which two queries differ.

In reading order: `rules` is what a database has to keep, `touched` the real rows to start from, `near` values next
to the queries' constants, `change` one random change of rows, `keep` makes rows keep the rules again, `claim` says
when two queries differ, `search` puts these together and `shrink` makes what it found small. `reaction`
and `several` ask what the queries of a whole pool do on such databases.
"""
