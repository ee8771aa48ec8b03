"""index.html: the page of a bundle for its receiver, from what the bundle publishes and nothing else."""
