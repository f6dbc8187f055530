"""Queries made from a query: its mutants, and queries for the rows that it touches."""
