"""Queries made from a query: its mutants, a shuffled copy, queries for its source rows, and probes of its faults."""
