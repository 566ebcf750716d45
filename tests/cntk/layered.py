"""A network of NDL with one hidden layer, which is a macro: what edits in MEL are tried on."""

LAYER = """\
Layer(in1, rows, cols) = [
    W = Parameter(rows, cols)
    b = Parameter(rows, 1)
    t = Times(W, in1)
    p = Plus(t, b)
    y = Sigmoid(p)
]
"""
NETWORK = """\
x = Input(4, tag=feature)
labels = Input(2, tag=label)
H1 = Layer(x, 8, 4)
W = Parameter(2, 8)
z = Times(W, H1.y, tag=output)
ce = CrossEntropyWithSoftmax(labels, z, tag=criterion)
"""
