"""Calls of models: answered from the cache, or paid once and on disk before anybody sees the reply.

`Client` is the face. In reading order: `keys` (what a call is), `cache` and `transfer` (its row), `money` (ledger,
budget, prices), `locks` and `limiter` (who may send now), `send` and `faults` (LiteLLM, and why there is no reply),
`client` (all of it together), `batch`, `preview`, `parameters`, `scripted`.
"""
