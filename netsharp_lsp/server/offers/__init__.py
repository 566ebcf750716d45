"""What the server offers a client: at the start, and later for languages of our own."""
