"""BrainScript: how its text reads, and what it evaluates to."""
