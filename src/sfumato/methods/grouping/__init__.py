"""What all methods that put records into equivalence classes share."""
