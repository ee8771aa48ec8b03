"""The language of conditions on records, from text to codes."""
