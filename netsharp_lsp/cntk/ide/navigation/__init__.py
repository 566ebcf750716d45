"""From a place to others: declarations and uses, implementations, links, the flow of data.

Changes nothing.
"""
