"""Files of data in the original's formats, and the samples of them in the order of its minibatches.

Knows no network.
"""
