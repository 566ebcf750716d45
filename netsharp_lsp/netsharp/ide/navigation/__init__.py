"""From a place to others: declarations and uses of a name, the flow of data.

Changes nothing.
"""
