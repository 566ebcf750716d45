"""Rules on bundles: their attributes and conditions, and the geometry of kernels."""
