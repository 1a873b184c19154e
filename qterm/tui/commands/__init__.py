"""Commands: each declared once, for its key, the footer, the palette, F1 and the settings."""
