"""What a CNTK configuration evaluates to, read as the program reads it; no syntax tree, no disk."""
