"""Rules on texts of NDL, and on what keeps one from being built."""
