"""The lazy evaluation of BrainScript, as CNTK does it."""
