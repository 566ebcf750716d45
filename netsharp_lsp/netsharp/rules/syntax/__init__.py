"""Rules on text that stands where it cannot, and on what may have been meant."""
