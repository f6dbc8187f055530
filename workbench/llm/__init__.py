"""Calls of models: answered from the cache, or paid once and stored before anybody sees them."""
