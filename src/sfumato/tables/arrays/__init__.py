"""Tables in memory: as Arrow for an engine, and as arrays of codes that count themselves."""
