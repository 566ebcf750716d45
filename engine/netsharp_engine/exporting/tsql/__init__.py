"""Trained models of tables as scripts of T-SQL: tables of weights, and a function that scores rows.

DuckDB and sqlglot are imported where answers are compared, and nowhere else.
"""
