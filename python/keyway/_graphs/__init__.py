"""What keyway.graph and keyway.compile are made of."""
