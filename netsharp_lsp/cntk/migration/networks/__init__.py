"""One network of NDL as migration rules use it: its names, and its words in BrainScript.

Knows no rule; its methods return edits.
"""
