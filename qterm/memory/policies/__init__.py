"""The policies: pure functions from documents, settings, a day and ticks to a proposal (M1)."""
