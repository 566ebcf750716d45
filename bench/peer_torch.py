"""The other side of the engine's benchmark: PyTorch in eager mode, and scikit-learn.

Each ``*_step`` makes a call without arguments that trains on one ready batch: forward,
backward, and SGD with momentum 0.9.  float32.  The workloads:

W1   784 - 200 sigmoid - 10, softmax cross-entropy
W2a  29x29, convolution 5 kernels 5x5 stride 2 tanh, convolution 50 kernels over all 5 maps
     5x5 stride 2 tanh, full 100 tanh, full 10
W2b  the same with the second convolution in five groups of ten, as the guide's
     ``KernelShape = [1, 5, 5]; Sharing = [false, true, true]; MapCount = 10`` says
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

RATE, MOMENTUM = 0.01, 0.9
SHAPES = {"W1": (784,), "W2a": (1, 29, 29), "W2b": (1, 29, 29)}
PARAMETERS = {"W1": 159_010, "W2a": 132_540, "W2b": 127_540}


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


def torch_step(workload: str, samples: int) -> Callable[[], object]:
    """PyTorch eager on one thread, its optimiser with default settings."""
    import torch

    torch.set_num_threads(1)
    torch.manual_seed(0)
    x, labels = (torch.from_numpy(part) for part in batch_of(workload, samples))
    net = network(workload)
    assert sum(parameter.numel() for parameter in net.parameters()) == PARAMETERS[workload]
    optimiser = torch.optim.SGD(net.parameters(), lr=RATE, momentum=MOMENTUM)
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
