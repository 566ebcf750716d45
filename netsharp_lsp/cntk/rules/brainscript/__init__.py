"""Rules on texts of BrainScript, and on the programs that they form."""
