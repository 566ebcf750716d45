"""Training by several processes: how they speak to each other, and what they decide together."""
