"""The calls of Microsoft's package microsoftml on this engine: networks, their scores, on frames.

Signatures, defaults and names of columns are the original's, from its reference and its printed
examples; files, databases and other learners are not their matter.
"""
