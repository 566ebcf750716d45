"""The texts that a migration edits, the edits, and the networks that have to stay unchanged.

Knows no rule, and no word of BrainScript.
"""
