"""What BrainScript evaluates to, lazily, as the original program does it."""
