"""The quality of a network in integers beside the one in floating point: `comparing` adds up
answers, `gate` evaluates held-out rows, `room` compares sizes with a device, `widening` finds wider
operands that pass, `reports` has the cost and error of each layer, `pages` writes that, and
`explaining` describes the plan without data.

Knows no files and no terminal.
"""
