"""The embedded model: `embedded/parser`, a small rule-based parser; it needs no key and no network.

It answers from the prompt alone: it builds queries of a small grammar, scores them with a log-
linear model, and draws from them at the request's temperature. It is no language model: it knows
nothing that the prompt does not show, and says which words it did not understand. README.md follows
one question through its files. Nothing imports it: `provider` is found by its entry point.
"""
