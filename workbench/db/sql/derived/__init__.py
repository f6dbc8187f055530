"""Queries made from a query: its mutants, queries for the rows that it touches, and probes of doubts about it."""
