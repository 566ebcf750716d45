"""What the names of a text of BrainScript mean without evaluating it; knows no rule, no editor."""
