"""Training, evaluation and writing of CNTK's commands: from configurations and networks to what the
engine computes. Knows no terminal and no array.
"""
