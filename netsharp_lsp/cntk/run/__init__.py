"""One run of CNTK: its command line, configuration, commands, texts and networks.

Evaluates no rule: knows no rule, no migration and no editor.
"""
