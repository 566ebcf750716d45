"""One run of the program: what it is started with, its configuration, commands, texts and networks.

Says what there is and judges nothing: knows no rule, no migration and no editor.
"""
