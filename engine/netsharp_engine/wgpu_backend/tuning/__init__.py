"""Which variant computes each kernel on a device: measured in a second, kept for the next time."""
