"""The answers of languages to editors, as plain values; knows no language, protocol or editor."""
