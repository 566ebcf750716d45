"""Navigation: declarations and uses, implementations, links, the flow of data.

Changes nothing.
"""
