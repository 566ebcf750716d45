"""Rules on text where it is not allowed, and on what may have been meant."""
