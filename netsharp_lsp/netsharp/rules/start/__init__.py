"""Rules about observations of the start of a training."""
