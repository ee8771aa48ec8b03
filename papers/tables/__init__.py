"""The tables that papers use, packaged or public."""
