"""The screens and the questions: each owns its state, widgets only show it."""
