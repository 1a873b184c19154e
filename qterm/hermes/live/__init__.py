"""hermes kept running: one `hermes-acp` process serves turn after turn over its standard streams.

`updates.py` reads what it tells (pure), `wire.py` carries the messages, `peer.py` is one process,
`pool.py` the few there are, `freshness.py` sees what others wrote meanwhile, `asking.py` holds the
requests that stand, and `live.py` is the way the rest of qterm knows.
"""
