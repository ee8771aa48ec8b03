"""Full-domain generalisation: one level for each attribute, the best in the lattice."""
