"""Values and pure functions: attributes, taxonomies, domains, counts, regions, the registry."""
