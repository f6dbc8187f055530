"""Queries made from a query: a shuffled copy, and queries for its source rows."""
