"""The other side of the engine's benchmark: PyTorch in eager mode, and scikit-learn.

Each ``*_step`` makes a call without arguments that trains on one ready batch: forward,
backward, and SGD with momentum 0.9.  float32.  The workloads:

W1   784 - 200 sigmoid - 10, softmax cross-entropy
W2a  29x29, convolution 5 kernels 5x5 stride 2 tanh, convolution 50 kernels over all 5 maps
     5x5 stride 2 tanh, full 100 tanh, full 10
W2b  the same with the second convolution in five groups of ten, as the guide's
     ``KernelShape = [1, 5, 5]; Sharing = [false, true, true]; MapCount = 10`` says
W3   28x28, convolution 20 kernels 5x5 rectifier, max pool 2, convolution 50 kernels 5x5 rectifier,
     max pool 2, full 500 rectifier, full 10
W4   3x32x32, convolution 48 kernels 5x5 padded rectifier, response normalisation over 5 maps, max
     pool 2, convolution 64 kernels 5x5 padded rectifier, full 256 rectifier, full 10
1024, 2048   784 - two layers of so many sigmoids - 10
W5   10x20 pixels and 7 numbers: 120 nodes by row, 100 nodes by column and its neighbours, both to
     100, these and the numbers to 10; sigmoid
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

RATE, MOMENTUM = 0.01, 0.9
SHAPES = {
    "W1": (784,),
    "W2a": (1, 29, 29),
    "W2b": (1, 29, 29),
    "W3": (1, 28, 28),
    "W4": (3, 32, 32),
    "W5": (207,),
    "1024": (784,),
    "2048": (784,),
}
#: The filtered bundles of W5 are full ones with zeros, which are not parameters of ours.
PARAMETERS = {"W1": 159_010, "W2a": 132_540, "W2b": 127_540, "W3": 431_080, "W4": 4_277_642}


def batch_of(workload: str, samples: int) -> tuple[np.ndarray, np.ndarray]:
    """Random samples in the workload's shape, and labels 0 to 9 that all occur."""
    random = np.random.default_rng(0)
    x = random.standard_normal((samples, *SHAPES[workload]), dtype=np.float32)
    return x, np.arange(samples) % 10


def network(workload: str):
    """The workload as a torch module that ends with the logits."""
    from torch import nn

    if workload == "W1":
        return nn.Sequential(nn.Linear(784, 200), nn.Sigmoid(), nn.Linear(200, 10))
    if workload.isdigit():
        width = int(workload)
        return nn.Sequential(
            nn.Linear(784, width),
            nn.Sigmoid(),
            nn.Linear(width, width),
            nn.Sigmoid(),
            nn.Linear(width, 10),
        )
    if workload in ("W3", "W4", "W5"):
        return larger_network(workload)
    groups = {"W2a": 1, "W2b": 5}[workload]
    return nn.Sequential(
        nn.Conv2d(1, 5, kernel_size=5, stride=2),
        nn.Tanh(),
        nn.Conv2d(5, 50, kernel_size=5, stride=2, groups=groups),
        nn.Tanh(),
        nn.Flatten(),
        nn.Linear(50 * 5 * 5, 100),
        nn.Tanh(),
        nn.Linear(100, 10),
    )


def larger_network(workload: str):
    """W3 to W5, up to the logits."""
    import torch
    from torch import nn

    if workload == "W3":
        return nn.Sequential(
            nn.Conv2d(1, 20, kernel_size=5),
            nn.ReLU(),
            nn.MaxPool2d(2),
            nn.Conv2d(20, 50, kernel_size=5),
            nn.ReLU(),
            nn.MaxPool2d(2),
            nn.Flatten(),
            nn.Linear(50 * 4 * 4, 500),
            nn.ReLU(),
            nn.Linear(500, 10),
        )
    if workload == "W4":
        return nn.Sequential(
            nn.Conv2d(3, 48, kernel_size=5, padding=2),
            nn.ReLU(),
            nn.LocalResponseNorm(5, alpha=1e-3, beta=0.75, k=1.0),
            nn.MaxPool2d(2),
            nn.Conv2d(48, 64, kernel_size=5, padding=2),
            nn.ReLU(),
            nn.Flatten(),
            nn.Linear(64 * 16 * 16, 256),
            nn.ReLU(),
            nn.Linear(256, 10),
        )

    class Filtered(nn.Module):
        """Filtered bundles as full ones with zeros, as a user of torch writes them."""

        def __init__(self) -> None:
            super().__init__()
            self.rows, self.columns = nn.Linear(200, 120), nn.Linear(200, 100)
            self.near, self.far = nn.Linear(120, 100), nn.Linear(100, 100, bias=False)
            self.last, self.beside = nn.Linear(100, 10), nn.Linear(7, 10, bias=False)
            row, column = np.divmod(np.arange(200), 20)
            by_row = np.arange(120)[:, None] // 12 == row
            by_column = abs(np.arange(100)[:, None] % 20 - column) <= 1
            for layer, kept in ((self.rows, by_row), (self.columns, by_column)):
                mask = torch.from_numpy(kept).float()
                layer.weight.data *= mask
                layer.weight.register_hook(mask.mul)

        def forward(self, x):
            pixels, numbers = x[:, :200], x[:, 200:]
            rows, columns = torch.sigmoid(self.rows(pixels)), torch.sigmoid(self.columns(pixels))
            return self.last(torch.sigmoid(self.near(rows) + self.far(columns))) + self.beside(
                numbers
            )

    return Filtered()


def torch_step(
    workload: str, samples: int, *, fused: bool = False, channels_last: bool = False
) -> Callable[[], object]:
    """PyTorch eager on one thread; its optimiser as it is by default, or in one pass."""
    import torch

    torch.set_num_threads(1)
    torch.manual_seed(0)
    x, labels = (torch.from_numpy(part) for part in batch_of(workload, samples))
    net = network(workload)
    if channels_last:
        net = net.to(memory_format=torch.channels_last)
        x = x.to(memory_format=torch.channels_last)
    count = sum(parameter.numel() for parameter in net.parameters())
    assert count == PARAMETERS.get(workload, count)
    return stepping(net, x, labels, **({"fused": True} if fused else {}))


def stepping(
    net: Any, x: Any, labels: Any, *, rate: float = RATE, **options: Any
) -> Callable[[], object]:
    """Return a step of training a module on one batch, wherever both lie, which returns the loss.

    ``options`` are those of the optimiser.
    """
    import torch

    optimiser = torch.optim.SGD(net.parameters(), lr=rate, momentum=MOMENTUM, **options)
    cross_entropy = torch.nn.functional.cross_entropy

    def step() -> object:
        optimiser.zero_grad(set_to_none=True)
        loss = cross_entropy(net(x), labels)
        loss.backward()
        optimiser.step()
        return loss

    return step


def sklearn_step(workload: str, samples: int) -> Callable[[], object]:
    """scikit-learn's own network; it has W1 only."""
    from sklearn.neural_network import MLPClassifier

    assert workload == "W1"
    x, labels = batch_of(workload, samples)
    net = MLPClassifier(
        (200,),
        activation="logistic",
        solver="sgd",
        alpha=0.0,
        batch_size=samples,
        learning_rate_init=RATE,
        momentum=MOMENTUM,
        nesterovs_momentum=False,
    )
    net.partial_fit(x, labels, classes=np.arange(10))
    return lambda: net.partial_fit(x, labels)
