"""Calls of models: answered from the cache, or paid once and on disk before anybody sees the reply.

`Client` is the face, and `client.py` reads from top to bottom.
"""
