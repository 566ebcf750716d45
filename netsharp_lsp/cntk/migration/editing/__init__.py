"""The texts that a migration edits, the edits, and which networks have to stay what they are.

Knows no rule, and no word of BrainScript.
"""
