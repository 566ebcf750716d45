"""Rules on initial values and on parameters that are shared."""
