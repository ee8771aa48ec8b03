"""Zaman & Obimbo, *Privacy preserving data publishing: a classification perspective*, 2014."""
