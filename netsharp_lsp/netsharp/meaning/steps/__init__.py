"""From a text to the next: what an edit touches is worked out anew, everything else is kept.

Knows the whole network; no rule and no editor.
"""
