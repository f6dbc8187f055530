"""Calls of models: answered from the cache, or paid once and on disk before anybody sees the reply."""
