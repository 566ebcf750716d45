"""From a graph to passes: described, split, joined, placed; all of it plain data, no device."""
