"""One network of NDL as rules of a migration see it: its names, its words in BrainScript.

Knows no rule; the edits that it proposes are answers.
"""
