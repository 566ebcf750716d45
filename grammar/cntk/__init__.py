"""The grammar's queries as package data; it holds no code."""
