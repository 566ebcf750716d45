"""The names of a text of BrainScript, resolved without evaluation; knows no rule and no editor."""
