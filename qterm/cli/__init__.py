"""The command line: thin commands over the same feed and Conversation that the screens use.

One small module a command group; `app.py` puts them together, `run.py` opens the services and
turns every error into one sentence, `exit_codes.py` holds all exit codes, `show.py` what is
printed and how.
"""
