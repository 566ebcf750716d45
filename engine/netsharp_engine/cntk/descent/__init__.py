"""The original's SGD: rates, rules, decisions between epochs, and what is told of them.

Asks a program for every number; knows no file of data.
"""
