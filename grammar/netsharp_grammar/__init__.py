"""Tree-sitter grammars as C extensions, one per language; nothing is imported here."""
