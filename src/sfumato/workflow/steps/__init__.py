"""Parts of planning and releasing."""
