"""From bytes to syntax, and what broken text shows; knows no meaning of names and numbers."""
