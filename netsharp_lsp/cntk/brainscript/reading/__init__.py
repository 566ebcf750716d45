"""From BrainScript text to immutable syntax; knows nothing of what names mean."""
