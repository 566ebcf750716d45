"""One network written by hand in both languages comes to the same nodes, attributes and groups."""

from __future__ import annotations

import pytest

from netsharp_lsp.cntk.brainscript.evaluation.program import Surroundings, evaluate_builder
from netsharp_lsp.cntk.library import own_library
from netsharp_lsp.cntk.networks.same import compare
from tests.cntk.ndl.building import network

PAIRS = {
    "one hidden layer": (
        """
f = Input(784, tag = feature)
l = Input(10, tag = label)
W0 = Parameter(200, 784, init = uniform, initValueScale = 2)
B0 = Parameter(200, 1, init = fixedValue, value = 0)
h = Sigmoid(Plus(Times(W0, f), B0))
W1 = Parameter(10, 200, init = gaussian, randomSeed = 3)
z = Times(W1, h, tag = output)
ce = CEWithSM(l, z, tag = criteria)
err = ErrorPrediction(l, z, tag = eval)
""",
        """{
f = Input {784}
l = Input {10, tag = 'label'}
W0 = Parameter {200, 784, init = 'uniform', initValueScale = 2}
B0 = Parameter {200, 1, initValue = 0}
h = Sigmoid (W0 * f + B0)
W1 = Parameter {10, 200, init = 'gaussian', randomSeed = 3}
z = Times (W1, h, tag = 'output')
ce = CrossEntropyWithSoftmax (l, z, tag = 'criterion')
err = ErrorPrediction (l, z, tag = 'evaluation')
}""",
    ),
    "images": (
        """
f = ImageInput(12, 10, 3, imageLayout = cudnn, tag = feature)
K = Parameter(8, 75, init = heNormal)
c = Convolution(K, f, 5, 5, 8, 1, 2, zeroPadding = true, imageLayout = CHW)
b = ImageParameter(1, 1, 8, init = fixedValue, value = 0.1, imageLayout = CHW)
r = ReLU(Plus(c, b))
m = MaxPooling(r, 2, 2, 2, 2, imageLayout = cudnn)
p = Pooling(m, average, {2, 2}, stride = {1, 1}, autoPadding = {false, false})
s = Parameter(8, 1, init = fixedValue, value = 1)
o = Parameter(8, 1, init = fixedValue, value = 0)
n = BatchNormalization(p, s, o, o, s, spatial = true, engine = cudnn, epsilon = 1e-4)
outputNodes = (n)
""",
        """{
f = ImageInput {12, 10, 3}
K = Parameter {8, 75, init = 'heNormal'}
c = Convolution (K, f, (5:5:3), mapDims = 8, stride = (1:2:3), autoPadding = (true:true:false))
b = ParameterTensor {(1:1:8), initValue = 0.1}
r = ReLU (c + b)
m = MaxPooling (r, 2, 2, 2, 2)
p = Pooling (m, 'average', (2:2), stride = (1:1), autoPadding = (false:false))
s = Parameter {8, 1, initValue = 1}
o = Parameter {8, 1, initValue = 0}
n = BatchNormalization (p, s, o, o, s, true, useCntkEngine = false, epsilon = 1e-4)
outputNodes = n
}""",
    ),
    "older images": (
        """
f = Image(12, 10, 3, tag = feature)
b = ImageParameter(1, 1, 3, needGradient = false)
r = Plus(f, b)
m = AveragePooling(r, 2, 2, 1, 1, tag = output)
""",
        """{
f = ImageInput {12, 10, 3, imageLayout = 'HWC'}
b = ParameterTensor {(3:1:1), init = 'uniform', learningRateMultiplier = 0}
r = f + b
m = AveragePooling (r, 2, 2, 1, 1, imageLayout = 'legacy', tag = 'output')
}""",
    ),
    "recurrence by macros": (
        """
Affine(x, r, c) {
    W = Parameter(r, c), b = Parameter(r, 1, init = fixedValue)
    y = Plus(Times(W, x), b)
}
Cell(x, n, m) {
    d = Delay(n, 1, out, delayTime = 2, defaultHiddenActivity = 0)
    a = Affine(x, n, m)
    R = Parameter(n, n)
    out = Tanh(Plus(a, Times(R, d)))
}
f = SparseInput(50, tag = feature)
h = Cell(f, 20, 50)
g = FutureValue(20, h)
z = RowStack(h, g, tag = output)
""",
        """{
Affine (x, r, c) = { W = Parameter {r, c} ; b = Parameter {r, 1, initValue = 0} ; y = W * x + b }
Cell (x, n, m) = {
    d = PastValue (n, out, timeStep = 2, defaultHiddenActivation = 0)
    a = Affine (x, n, m).y
    R = Parameter {n, n}
    out = Tanh (a + R * d)
}
f = SparseInput {50}
h = Cell (f, 20, 50).out
g = FutureValue (20, h)
z = RowStack (h : g, tag = 'output')
}""",
    ),
    "shapes and reductions": (
        """
f = Input(12, tag = feature)
c = Constant( -2, rows = 12, cols = 1)
s = RowSlice(3, 6, f)
r = RowRepeat(s, 2)
q = Reshape(r, 12)
P = Parameter(12)
d = DiagTimes(P, q)
k = KhatriRaoProduct(s, s)
t = TransposeTimes(c, f)
e = SquareError(d, f, tag = criterion)
l1 = L1Reg(c, tag = eval)
m = Mean(f)
v = InvStdDev(f)
""",
        """{
f = Input {12}
c = Constant (-2, rows = 12, cols = 1)
s = RowSlice (3, 6, f)
r = RowRepeat (s, 2)
q = Reshape (r, 12)
P = ParameterTensor {12}
d = DiagTimes (P, q)
k = KhatriRaoProduct (s, s)
t = TransposeTimes (c, f)
e = SquareError (d, f, tag = 'criterion')
l1 = MatrixL1Reg (c, tag = 'evaluation')
m = Mean (f)
v = InvStdDev (f)
}""",
    ),
}


@pytest.mark.parametrize("name", PAIRS)
def test_pair(name: str) -> None:
    ndl, script = PAIRS[name]
    found = evaluate_builder(
        script.encode(), "pair.bs", Surroundings(lambda path: None, own_library())
    )
    assert found.faults == ()
    assert found.network is not None
    assert [(one.node.name, one.message) for one in found.network.troubles] == []
    ours = network(ndl)
    comparison = compare(ours, found.network)
    assert [one.message for one in comparison.differences] == []
    assert len(comparison.names) == len(found.network.nodes) == len(ours.nodes)
