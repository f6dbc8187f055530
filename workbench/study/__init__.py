"""Experiments: opened as studies in a notebook, or reproduced notebook by notebook."""
