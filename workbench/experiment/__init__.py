"""Experiments run by Papermill: notebooks in parallel, what they cost, where every number came from."""
