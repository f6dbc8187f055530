"""Retrieval: keywords of a question, and what is like them among values and descriptions."""
