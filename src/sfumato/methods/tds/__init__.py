"""TDS: top-down specialization, its groups counted in memory or by an engine."""
