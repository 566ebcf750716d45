"""The parser of BrainScript, from text to immutable syntax; knows no meaning of names."""
