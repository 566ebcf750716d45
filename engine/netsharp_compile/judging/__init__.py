"""How good a network in integers is beside the one in floating point: `comparing` adds up answers,
`gate` judges by rows held back, `room` by what a device has, `widening` finds wider operands that
pass, `reports` says what each layer costs and loses, `pages` writes that, and `explaining` tells
what is known without data.

Knows no files and no terminal.
"""
