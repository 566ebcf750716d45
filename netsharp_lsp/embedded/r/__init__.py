"""R as a host: its tokens, its literals, and the specifications in them."""
