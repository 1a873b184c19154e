"""What the screens say, in words and rows: pure, no widget, no clock, no file.

Most of what a screen shows is decided here, and tested in milliseconds.
"""
