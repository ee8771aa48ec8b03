"""Sets in releases and measures."""
