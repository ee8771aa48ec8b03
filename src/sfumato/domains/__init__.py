"""Domains: the public values of attributes as codes, with cuts, taxonomies, sets of codes and queries over them."""
