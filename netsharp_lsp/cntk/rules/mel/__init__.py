"""Rules on edits of models in MEL."""
