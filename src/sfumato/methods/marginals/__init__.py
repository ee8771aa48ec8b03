"""Marginals: a differentially private release for whatever receivers do, of tables chosen for a declared workload."""
