"""BrainScript: its parser, the analysis of names, and the evaluation."""
