"""What privacy models see of equivalence classes, and how distributions of sensitive values are compared."""
