"""A published release beside the table it was made from."""
