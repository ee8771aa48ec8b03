"""The manifest: what a release is, what it guarantees and how it was made, for people and for programs."""
