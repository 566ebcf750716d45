"""NDL, the older language of networks: its parser and its evaluation."""
