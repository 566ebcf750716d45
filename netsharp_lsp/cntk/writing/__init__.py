"""A network that has no text, written as BrainScript: names become records, nodes become calls.

Knows no file and no number of a parameter: whoever asks says how each begins.
"""
