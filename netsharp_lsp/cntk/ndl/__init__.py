"""NDL, the older language of networks: its reading and its evaluation."""
