"""The meanings of Net#'s words, and the counts and shares of a network in sentences, for people.

Knows no place in a text.
"""
