"""From the files that settings name to data to train on, read or found again."""
