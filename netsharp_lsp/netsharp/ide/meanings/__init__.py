"""What the words of Net# mean, and the counts and shares of a network in sentences, for people.

Knows no place in a text.
"""
