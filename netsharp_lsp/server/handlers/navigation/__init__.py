"""From a place to others: declarations and uses, symbols, links, the flow of data.

Changes nothing.
"""
