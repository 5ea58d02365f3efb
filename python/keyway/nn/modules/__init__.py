"""The modules; keyway.nn has all their names."""
