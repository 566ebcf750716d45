"""The protocol on a line: messages as bytes, read and written, and what their parameters look like.

Knows no document and no method's meaning.
"""
