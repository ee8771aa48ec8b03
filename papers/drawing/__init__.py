"""How figures are drawn: curves in panels, dots by name, and the page they stand on."""
