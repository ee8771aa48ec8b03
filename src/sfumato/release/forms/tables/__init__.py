"""Measured tables and synthetic records: the form of private releases that are made of several tables."""
