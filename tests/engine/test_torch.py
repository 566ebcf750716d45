"""Agreement with PyTorch on networks that both can express."""

from __future__ import annotations

import numpy as np
import pytest

from netsharp_engine.graph import Graph
from tests.engine.naive import Dimension
from tests.engine.networks import axes_of, convolution, dense, plan_of
from tests.peers import peer

torch = peer("torch")
torch.set_num_threads(1)
SAMPLES, RATE = 64, 0.05


def full_copy(layer, values, name):
    """Give a torch layer the engine's weights."""
    with torch.no_grad():
        layer.weight.copy_(torch.from_numpy(values[f"{name}/weights"]))
        layer.bias.copy_(torch.from_numpy(values[f"{name}/biases"]))


def kernel_copy(layer, values, name, order=None):
    """The same for a convolution; ``order`` sorts our kernels by torch's groups."""
    kernels = values[f"{name}/weights"]
    kernels = kernels if order is None else kernels[order]
    with torch.no_grad():
        layer.weight.copy_(torch.from_numpy(kernels[:, :-1].reshape(layer.weight.shape)))
        layer.bias.copy_(torch.from_numpy(kernels[:, -1].copy()))


def by_group(groups, maps):
    """Our kernel order is map * groups + group; torch's is group * maps + map."""
    return np.arange(groups * maps).reshape(maps, groups).T.ravel()


class Mlp:
    """784-like full network with one sigmoid layer."""

    smooth = True
    shape = (20,)

    def ours(self, graph):
        hidden = dense(graph, graph.input("X", self.shape), 16, "sigmoid", "H")
        return dense(graph, hidden, 4, "softmax", "O")

    def theirs(self):
        return torch.nn.Sequential(
            torch.nn.Linear(20, 16), torch.nn.Sigmoid(), torch.nn.Linear(16, 4)
        )

    def copies(self, net, values):
        full_copy(net[0], values, "H")
        full_copy(net[2], values, "O")


class Convolutions:
    """The guide's digit network in small: a shared and a grouped convolution, tanh."""

    smooth = True
    shape = (1, 15, 15)

    def ours(self, graph):
        source = graph.input("X", (15, 15))
        square = [Dimension(15, 5, 2, False, 0, 0, True, 3), Dimension(15, 5, 2, False, 0, 0)]
        made = convolution(graph, source, square, "C1")
        made = graph.apply("activation", made, function="tanh")
        grouped = [Dimension(3, 1, 1, False, 0, 0, False, 4)]
        grouped += [Dimension(6, 3, 1, False, 1, 1) for _ in range(2)]
        made = convolution(graph, made, grouped, "C2")
        return dense(graph, graph.apply("activation", made, function="tanh"), 4, "softmax", "O")

    def theirs(self):
        return torch.nn.Sequential(
            torch.nn.Conv2d(1, 3, 5, 2),
            torch.nn.Tanh(),
            torch.nn.Conv2d(3, 12, 3, padding=1, groups=3),
            torch.nn.Tanh(),
            Regroup(3, 4),
            torch.nn.Flatten(),
            torch.nn.Linear(12 * 36, 4),
        )

    def copies(self, net, values):
        kernel_copy(net[0], values, "C1")
        kernel_copy(net[2], values, "C2", by_group(3, 4))
        full_copy(net[6], values, "O")


class Regroup(torch.nn.Module):
    """Torch's channel order, group by group, to ours, map by map."""

    def __init__(self, groups, maps):
        super().__init__()
        self.order = torch.from_numpy(np.arange(groups * maps).reshape(groups, maps).T.ravel())

    def forward(self, x):
        return x[:, self.order]


class Pooled:
    """Rectified linear convolutions, response norm across maps, max and mean pools."""

    smooth = False
    shape = (2, 12, 12)

    def ours(self, graph):
        source = graph.input("X", self.shape)
        first = [Dimension(2, 2, 1, False, 0, 0, True, 6)]
        first += [Dimension(12, 3, 1, True, 0, 0) for _ in range(2)]
        made = convolution(graph, source, first, "C1")
        made = graph.apply("activation", made, function="rlinear")
        across = [Dimension(6, 5, 1, True, 0, 0)] + [Dimension(12, 1, 1, 0, 0, 0)] * 2
        figures = {"alpha": 0.5, "beta": 0.75, "offset": 1.0, "over_full_kernel": True}
        made = graph.apply("response norm", made, axes=axes_of(across), **figures)
        halves = [Dimension(6, 1, 1, 0, 0, 0)] + [Dimension(12, 2, 2, False, 0, 0)] * 2
        made = graph.apply("max pool", made, axes=axes_of(halves))
        third = [Dimension(6, 1, 1, 0, 0, 0)] + [Dimension(6, 3, 3, False, 0, 0)] * 2
        made = graph.apply("mean pool", made, axes=axes_of(third))
        return dense(graph, made, 4, "softmax", "O")

    def theirs(self):
        return torch.nn.Sequential(
            torch.nn.Conv2d(2, 6, 3, padding=1),
            torch.nn.ReLU(),
            torch.nn.LocalResponseNorm(5, alpha=0.5, beta=0.75, k=1.0),
            torch.nn.MaxPool2d(2),
            torch.nn.AvgPool2d(3),
            torch.nn.Flatten(),
            torch.nn.Linear(24, 4),
        )

    def copies(self, net, values):
        kernel_copy(net[0], values, "C1")
        full_copy(net[6], values, "O")


NETWORKS = pytest.mark.parametrize(
    "case", [Mlp(), Convolutions(), Pooled()], ids=lambda c: type(c).__name__
)


def both(case):
    """The same network with the same weights on both sides, and data of four classes."""
    graph = Graph()
    plan = plan_of(graph, case.ours(graph), 16, "softmax", "float32")
    plan.initialise(5, 0.4)
    torch.manual_seed(0)
    net = case.theirs()
    case.copies(net, plan.store())
    random = np.random.default_rng(2)
    centres = random.standard_normal((4, *case.shape), dtype=np.float32)
    labels = random.integers(0, 4, SAMPLES)
    x = centres[labels] + random.standard_normal((SAMPLES, *case.shape), dtype=np.float32)
    return plan, net, x, labels


@NETWORKS
def test_gradients_agree(case):
    plan, net, x, labels = both(case)
    plan.feed(x[:16].reshape(16, -1), labels[:16])
    plan.step()
    loss = torch.nn.functional.cross_entropy(
        net(torch.from_numpy(x[:16])), torch.from_numpy(labels[:16])
    )
    loss.backward()
    assert plan.loss == pytest.approx(loss.item(), rel=1e-5)
    expected = case.theirs()
    case.copies(expected, plan.store(plan.gradient))
    for ours, theirs in zip(expected.parameters(), net.parameters(), strict=True):
        difference = torch.linalg.norm(ours - theirs.grad) / torch.linalg.norm(theirs.grad)
        assert difference.item() <= 1e-5


@pytest.mark.costly
@NETWORKS
def test_losses_agree_over_a_run(case):
    """SGD with momentum 0.9: 1,000 steps for smooth networks, 20 with kinks."""
    plan, net, x, labels = both(case)
    optimiser = torch.optim.SGD(net.parameters(), lr=RATE, momentum=0.9)
    velocity = np.zeros_like(plan.weights)
    losses = []
    for step in range(1000 if case.smooth else 20):
        span = slice(16 * (step % 4), 16 * (step % 4) + 16)
        plan.feed(x[span].reshape(16, -1), labels[span])
        plan.step()
        velocity *= np.float32(0.9)
        velocity += plan.gradient
        plan.weights -= np.float32(RATE) * velocity
        optimiser.zero_grad()
        loss = torch.nn.functional.cross_entropy(
            net(torch.from_numpy(x[span])), torch.from_numpy(labels[span])
        )
        loss.backward()
        optimiser.step()
        losses.append((plan.loss, loss.item()))
    ours, theirs = np.array(losses).T
    assert np.abs(ours - theirs).max() <= 1e-4
    assert ours[-1] < ours[0]
