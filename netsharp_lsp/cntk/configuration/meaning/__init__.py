"""What a joined configuration says: its commands, its values in order, who reads which block.

Reads no file and cuts no text.
"""
