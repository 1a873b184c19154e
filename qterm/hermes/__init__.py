"""hermes: finding it, learning what it can do, calling it, reading what it says.

`way.py` is the seam that the rest of qterm knows. `argv.py` and `reply.py` are pure; `locate.py`,
`capabilities.py` and `spawn.py` touch the machine.
"""
