"""The terminal itself and what is reached through it: how qterm leaves it, lends it to an editor,
and hands texts to its clipboard and addresses to a browser.
"""
