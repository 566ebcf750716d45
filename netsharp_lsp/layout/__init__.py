"""Pretty printing: documents with places where a text may break, and their layout as lines.

Knows no language; `document` builds, `render` prints.
"""
