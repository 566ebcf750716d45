"""The check of runs, with the findings by file; knows no single rule and no editor."""
