"""T-SQL as a host: its tokens, its strings, and the scripts and specifications in them."""
