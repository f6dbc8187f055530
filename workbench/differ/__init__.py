"""Small databases on which two queries differ.

In reading order: `rules` reads the constraints of a database, `touched` finds the real rows to start from, `near`
makes values next to the queries' constants, `change` changes rows at random, `keep` mends rows that break a
constraint, `pair` decides whether two queries differ, `search` searches for a database on which they do, and
`shrink` removes the rows that the difference does not need. `reaction` and `several` run whole pools of queries on
small databases.
"""
