"""Programs of several threads at once: the twins let other threads run, and share nothing."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import numpy.typing as npt
import pytest

from netsharp_engine.data.reading.compiled import BlockReader, PlainRows
from netsharp_engine.numpy_backend import compile_plan
from netsharp_lsp.netsharp.lower import build_graph
from tests.conftest import SEED

NET = """\
input Image [1, 12, 12];
hidden Conv [4, 10, 10] rlinear from Image convolve {{
  InputShape = [1, 12, 12]; KernelShape = [1, 3, 3]; MapCount = 4;
}}
hidden Pool [4, 5, 5] from Conv max pool {{
  InputShape = [4, 10, 10]; KernelShape = [1, 2, 2]; Stride = [1, 2, 2];
}}
hidden Norm [4, 5, 5] from Pool response norm {{
  InputShape = [4, 5, 5]; KernelShape = [3, 1, 1]; Padding = [true, false, false];
  Alpha = 0.01; Beta = 0.75;
}}
hidden Full [{nodes}] {activation} from Norm all;
output Out [3] softmax from Full all;
"""
NETS = [NET.format(nodes=8 + n, activation=a) for n, a in enumerate(("tanh", "sigmoid", "rlinear"))]


def trained(number: int) -> list[npt.NDArray[np.floating]]:
    """The outputs and gradients of some steps of a network of its own."""
    random = np.random.default_rng(SEED + number)
    graph = build_graph(NETS[number % len(NETS)], {"features": 144})
    plan = compile_plan(graph, 16, "squared error", "float32", True)
    plan.load({one.name: random.normal(0, 0.2, one.shape) for one in graph.parameters})
    found = []
    for _ in range(6):
        plan.feed(random.normal(size=(16, 144)), random.uniform(size=(16, 3)))
        plan.step()
        found += [plan.output.copy(), plan.gradient.copy()]
    return found


@pytest.mark.parametrize("threads", [4])
def test_programs_of_several_threads_compute_what_each_does_alone(threads: int) -> None:
    numbers = range(2 * threads)
    alone = [trained(number) for number in numbers]
    with ThreadPoolExecutor(threads) as pool:
        together = list(pool.map(trained, numbers))
    for ours, theirs in zip(together, alone, strict=True):
        for one, other in zip(ours, theirs, strict=True):
            np.testing.assert_array_equal(one, other)


def read(number: int) -> tuple[bytes, list[str]]:
    """The numbers and texts of a block, of which some numbers are left to Python."""
    hard = "0.1000000000000000055511151231257827"
    rows = [f"{row}.{number},t{row % 7},{hard if row % 3 else row}\n" for row in range(3000)]
    found = BlockReader(",", ".", 3, (0, 2), (1,)).read("".join(rows).encode(), 3000)
    assert isinstance(found, PlainRows)
    return found.numbers.tobytes(), list(found.texts[0])


def test_tables_of_several_threads_are_what_each_reads_alone() -> None:
    """A reading holds the lock of Python while that reads a number, and lets others run between."""
    alone = list(map(read, range(8)))
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(read, range(8))) == alone
