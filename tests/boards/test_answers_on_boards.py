"""Probabilities, classes and codes of features on boards, which have no unit of floating point."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import netsharp
from netsharp_compile.compiled import CompiledNetwork
from netsharp_compile.probabilities import probabilities
from tests.boards.images import BOARDS
from tests.boards.test_boards import require_board
from tests.compiling.networks import ONE, trained

pytestmark = [pytest.mark.costly, pytest.mark.filterwarnings("ignore:On training rows")]
ROWS = 20
#: Returns how many numbers differ.
MAIN = """\
#include "net.h"
{arrays}
int main(void)
{{
    static uint8_t scratch[NET_SCRATCH];
    net_in_t x[NET_IN];
    net_out_t y[NET_OUT];
    int differing = 0;
    for (int row = 0; row < {rows}; row++) {{
        net_quantize(features + row * NET_IN, x);
        for (int n = 0; n < NET_IN; n++)
            differing += x[n] != codes[row * NET_IN + n];
        {check}
    }}
    return differing > 100 ? 100 : differing;
}}
"""
CHECKS = {
    "softmax": """uint16_t p[NET_OUT];
        net_run(x, y, scratch);
        net_softmax(y, p);
        for (int n = 0; n < NET_OUT; n++)
            differing += p[n] != wanted[row * NET_OUT + n];""",
    "argmax": """differing += net_classify(x, scratch) != wanted[row];
        net_run(x, y, scratch);
        differing += net_argmax(y) != wanted[row];""",
}


@pytest.fixture(scope="module")
def network() -> tuple[CompiledNetwork, np.ndarray]:
    model, x = trained(ONE.format("tanh", "softmax"), epochs=30)
    return netsharp.compile(model, x), x[:ROWS].astype(np.float32)


def arrays(made: CompiledNetwork, x: np.ndarray, answers: str) -> Iterator[str]:
    """The rows, their codes and what is to be answered, as C."""
    codes = made.network.features.of(x.astype(np.float64))
    outputs = made.network.simulate(codes)[-1]
    target = made.network.layers[-1].target
    wanted = probabilities(outputs, target) if answers == "softmax" else outputs.argmax(axis=1)
    for kind, name, numbers in (
        ("float", "features", [one.hex() for one in x.astype(float).reshape(-1).tolist()]),
        ("net_in_t", "codes", codes.reshape(-1).tolist()),
        ("uint16_t", "wanted", wanted.reshape(-1).tolist()),
    ):
        listed = ", ".join(f"{one}f" if kind == "float" else str(one) for one in numbers)
        yield f"static const {kind} {name}[] = {{{listed}}};"


@pytest.mark.parametrize("answers", CHECKS)
@pytest.mark.parametrize("name", BOARDS.BOARDS)
def test_answers_on_a_board(
    name: str, answers: Any, network: tuple[CompiledNetwork, np.ndarray], tmp_path: Path
) -> None:
    require_board(name)
    made, x = network
    made.write(tmp_path / "net", answers=answers)
    text = "\n".join(arrays(made, x, answers))
    main = MAIN.format(arrays=text, rows=ROWS, check=CHECKS[answers])
    (tmp_path / "main.c").write_text(main)
    sources = [one for one in (tmp_path / "net").glob("*.c") if not one.stem.endswith("_test")]
    flags = ("-O2", "-DNETSHARP_WITH_FLOAT", f"-I{tmp_path / 'net'}")
    program = tmp_path / "image.elf"
    BOARDS.build(BOARDS.BOARDS[name], [tmp_path / "main.c", *sources], program, *flags)
    answer, output = BOARDS.run(BOARDS.BOARDS[name], program)
    assert answer == 0, output
