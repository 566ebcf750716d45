"""The rows of the table of bombs, a module for each language or subject."""
