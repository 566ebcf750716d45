"""Text as bytes: lines, positions, edits and decoding; knows no language and no disk."""
