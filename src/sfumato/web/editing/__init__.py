"""Study files and taxonomies as pages edit them: an edit changes what it is about, and nothing else."""
