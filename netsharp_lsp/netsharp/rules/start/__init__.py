"""Rules about what was seen of the start of a training."""
