"""Top-down specialization: candidates, their scores, and the groups that they would make."""
