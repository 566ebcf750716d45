"""The capabilities of the server: at the start, and later for languages of our own."""
