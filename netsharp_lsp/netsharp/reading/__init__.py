"""From bytes to syntax, with the faults of broken text; knows no meaning of names and numbers."""
