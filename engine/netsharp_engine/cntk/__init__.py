"""CNTK's numerical rules: its generators, order of samples, readers, statistics and training.

Networks come as graphs, configurations as plain values: it must not know CNTK's languages. Each
module names the part of training that it implements, and the source of its rule.
"""
