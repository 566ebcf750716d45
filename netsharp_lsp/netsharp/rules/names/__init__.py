"""Rules on names and on the values of expressions."""
