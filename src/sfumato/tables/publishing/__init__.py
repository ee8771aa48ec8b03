"""Published tables that lie in a database or a lake: written there by the engine, and read again."""
