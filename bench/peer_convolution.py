"""The other side of the benchmark of images: PyTorch eager.

28 x 28, two convolutions 5 x 5 with 16 and 32 maps and their rectifiers, a maximum and a mean of
2 x 2, a dense layer of 128 sigmoids, 10 classes; SGD with momentum 0.9, float32, one thread.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

RATE, MOMENTUM, SAMPLES = 1e-6, 0.9, 100


def batch() -> tuple[np.ndarray, np.ndarray]:
    """Images [samples, 784] of numbers to 255, and their classes."""
    random = np.random.default_rng(0)
    images = random.integers(256, size=(SAMPLES, 784)).astype(np.float32)
    return images, np.arange(SAMPLES) % 10


def step() -> Callable[[], object]:
    """A call without arguments that trains on one ready minibatch."""
    import torch
    from torch import nn

    torch.set_num_threads(1)
    torch.manual_seed(0)
    images, classes = (torch.from_numpy(one) for one in batch())
    images = images.reshape(SAMPLES, 1, 28, 28)
    net = nn.Sequential(
        *(nn.Conv2d(1, 16, 5), nn.ReLU(), nn.MaxPool2d(2)),
        *(nn.Conv2d(16, 32, 5), nn.ReLU(), nn.AvgPool2d(2)),
        *(nn.Flatten(), nn.Linear(32 * 4 * 4, 128), nn.Sigmoid(), nn.Linear(128, 10)),
    )
    optimiser = torch.optim.SGD(net.parameters(), lr=RATE, momentum=MOMENTUM)

    def train() -> object:
        optimiser.zero_grad(set_to_none=True)
        scores = net(images / 256)
        loss = nn.functional.cross_entropy(scores, classes, reduction="sum")
        loss.backward()
        optimiser.step()
        return loss

    return train
