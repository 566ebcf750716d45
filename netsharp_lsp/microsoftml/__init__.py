"""The calls of Microsoft's package microsoftml on this engine: networks, their scores, on frames.

Signatures, defaults and names of columns are those of its reference and printed examples; there
are no files, databases and other learners.
"""
