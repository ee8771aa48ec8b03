"""A graphical model of all attributes: the likeliest one given marginals with noise, and records drawn from it."""
