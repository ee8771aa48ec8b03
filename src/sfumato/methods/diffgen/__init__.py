"""DiffGen: differentially private generalisation for classification."""
