"""Doubts about a query from its text, each with a second query, the probe, whose rows show whether it is a fault.

A probe without rows says that this database does not show the fault. Each module has one kind of doubt.
"""
