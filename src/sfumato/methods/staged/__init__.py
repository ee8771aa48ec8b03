"""Staged tables: a differentially private release for prediction, of tables that were chosen one after the other."""
