"""The rehearsal: the real hermes against a small scripted model on loopback, with a demo feed.

Everything lies in a throw-away folder, which is gone when the rehearsal ends. The tests and the
benchmarks use the same model server, with scripts of their own.
"""
