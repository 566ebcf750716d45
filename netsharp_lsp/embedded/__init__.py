"""Specifications inside other files: where they are, their text, how a change is written back.

Works on UTF-8 bytes; knows no meaning of Net#, no disk and no editor.
"""
