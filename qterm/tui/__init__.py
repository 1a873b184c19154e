"""The screens: a thin Textual face over the Conversation and the feed.

Nothing imports this room but the command line, and only when a screen is to be opened. Text from
outside reaches a widget through `content.py` alone.
"""
