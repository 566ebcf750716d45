"""Diagnostics as values: selection, suppression, baseline, fixes, pages, reports; no language."""
