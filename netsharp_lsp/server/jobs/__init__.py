"""Work that takes long: processes of their own, and the progress that a person sees and cancels.

Knows no family and no feature of an editor.
"""
