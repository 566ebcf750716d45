"""Correctness and figures of a graphics device, from the engine, numpy, torch and wgpu alone."""
