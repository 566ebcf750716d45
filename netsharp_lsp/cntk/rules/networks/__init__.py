"""Rules on networks as they were built, whatever language they were written in."""
