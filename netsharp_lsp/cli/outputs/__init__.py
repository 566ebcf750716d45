"""What commands write beside sentences: differences, curves, predictions as files.

Knows no command and no flag.
"""
