"""Tests of reading and following edits in MEL."""
