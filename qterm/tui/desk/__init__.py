"""The desk: the work beside the screens (reading, sending, keeping), and its messages."""
