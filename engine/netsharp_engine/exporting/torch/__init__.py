"""Trained networks as modules of PyTorch: a text to read, and its numbers in a safetensors file.

PyTorch itself is imported where answers are compared, and nowhere else.
"""
