"""What stands at an offset, what its words are about, and what may stand there.

Knows no feature that asks for it.
"""
