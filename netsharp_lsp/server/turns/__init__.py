"""The life of a server: it is started, takes messages in turn, and uses the moments between them.

Knows no method's meaning; what fails is caught here.
"""
