"""Texts, runs and variants of a system, compared."""
