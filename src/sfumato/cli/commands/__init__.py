"""The commands of the program, by who gives them."""
