"""The forms a release is published in: which tables are written, and how they are read, described and checked."""
