"""Rules on characters, comments and numbers: checks of bytes before anything is parsed."""
