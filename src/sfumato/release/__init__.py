"""The release: drafts, forms, the bundle that is published, its verification, and how its receiver uses it."""
