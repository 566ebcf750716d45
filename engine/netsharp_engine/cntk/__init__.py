"""What CNTK does with numbers: its generators, order of samples, readers, statistics and training.

Networks come as graphs, configurations as plain values: nothing of its languages is known here.
Rules and their sources: each module says which part of training it is.
"""
