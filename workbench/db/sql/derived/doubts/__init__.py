"""Doubts about a query from its text, each with a second query, the probe, whose rows prove that it is a fault.

If a probe returns no rows, the fault does not show in this database.
"""
