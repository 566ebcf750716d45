"""Files and tables that commands write: differences, curves, predictions.

Knows no command and no flag.
"""
