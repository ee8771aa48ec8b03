"""Bundles as the workbench opens them, whoever wrote them, and those that it made."""
