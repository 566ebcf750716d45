"""Kernels by family, a module each: formulas and loops, with sizes as numbers; no graph."""
