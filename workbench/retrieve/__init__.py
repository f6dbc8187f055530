"""Retrieval: keywords of a question, and the values and descriptions of the database that are like them."""
