"""A run on several processes and machines: what is asked, how they start, what each does."""
