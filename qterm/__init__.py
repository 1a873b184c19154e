"""qterm: a terminal client for talking with Q, an assistant persona that is the hermes agent."""

__version__ = "0.1.0"
