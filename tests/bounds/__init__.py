"""Bombs: texts that grow, and what an answer to them costs in time and memory."""
