"""Writing a bundle: beside its place, read back, checked, and then there in one step."""
