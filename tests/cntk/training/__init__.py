"""Runs of CNTK that are trained, evaluated and written."""
