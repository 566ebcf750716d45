"""The training data of the files that settings name, read or found again."""
