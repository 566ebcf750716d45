"""Pretty printing: documents that say where a text may break, and how they become lines.

Knows no language; `document` builds, `render` prints.
"""
