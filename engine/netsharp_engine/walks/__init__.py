"""Kernels on their way over a source, as slices and views; nothing here knows an operation."""
