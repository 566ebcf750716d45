"""Files of data in CNTK's formats, and their samples in the order of its minibatches.

It must not know networks.
"""
