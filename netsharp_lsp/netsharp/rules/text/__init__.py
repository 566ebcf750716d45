"""Rules on characters, comments and numbers: what can be judged before anything is read."""
