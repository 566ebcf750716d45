"""From a text to the next: what an edit affects is resolved again, everything else is kept.

Knows the whole network; no rule and no editor.
"""
