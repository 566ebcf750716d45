"""Code for each target gives the same bits, whatever the sizes of layers; by how much it is faster
is held by tests of boards.
"""

from __future__ import annotations

import random
import subprocess
from pathlib import Path
from typing import Any

import pytest

import netsharp
from netsharp_compile.compiled import CompiledNetwork
from netsharp_compile.integers import IntegerNetwork
from netsharp_compile.widths import ACTIVATIONS, WEIGHTS
from netsharp_compile.writing.c_files import c_files
from netsharp_compile.writing.device_steps import steps_of
from netsharp_compile.writing.products.targets import TARGETS, StepProducts
from tests.compiling.builds import COMPILERS, SANITIZED, STRICT, odd_codes
from tests.compiling.networks import DEEP, MAPS, drawn, trained

pytestmark = pytest.mark.filterwarnings("ignore:On training rows")
#: Layers of every rest of four, rows of values of every rest, and several bundles into one layer.
SIZES = (
    "input X auto; hidden A [4] tanh from X all; hidden B [5] rlinear { from A all; from X all; }"
    "hidden C [3] sigmoid from B all; hidden D [11] tanh { from C all; from A all; from B all; }"
    "output Y auto from D all;"
)
#: Vectors of 128 bits where a compiler has these by itself, of the widest here, and none.
FLAGS = (("-O2", "-march=native"), ("-O2", "-U__SSE2__"), SANITIZED)
#: Operands of 8 bits and of up to 16, with and without a sign.
OPERANDS = (*ACTIVATIONS, "uint10", "int16/12", "symmetric16/10", "uint16/10")


def differing(made: CompiledNetwork, x: Any, target: str, folder: Path, flags: Any) -> int:
    """How many answers of a build for a target are not the simulator's."""
    codes = odd_codes(made, x)
    files = c_files(
        made.network, "net", None, codes, made.network.simulate(codes)[-1], target=target
    )
    folder.mkdir(exist_ok=True)
    for name, text in files.items():
        (folder / name).write_text(text)
    for compiler in COMPILERS:
        command = [compiler, *STRICT, *flags, *map(str, folder.glob("*.c"))]
        done = subprocess.run(
            [*command, "-o", folder / "program"], capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr
        answer = subprocess.run([folder / "program"], check=False).returncode
        if answer or flags == SANITIZED:  # The libraries of others are packages of their own.
            return answer
    return 0


@pytest.mark.drawn
@pytest.mark.parametrize("activations", OPERANDS)
@pytest.mark.parametrize("weights", WEIGHTS)
@pytest.mark.parametrize("target", TARGETS[1:])
@pytest.mark.parametrize(("text", "features"), [(SIZES, 6), (MAPS, 36)], ids=["rows", "maps"])
@pytest.mark.parametrize("flags", FLAGS, ids=" ".join)
def test_every_target_gives_the_same_bits(
    flags: Any,
    text: str,
    features: int,
    target: str,
    weights: Any,
    activations: Any,
    tmp_path: Path,
) -> None:
    model, x = trained(text, features=features)
    made = netsharp.compile(model, x, activations=activations, weights=weights)
    assert differing(made, x[:40], target, tmp_path / "net", flags) == 0


def ways(network: IntegerNetwork, target: str) -> dict[str, str | None]:
    """How the products of each step's layer are added."""
    return {
        network.layers[step.layer].name: StepProducts(network, step, "net", target).way
        for step in steps_of(network)
    }


def test_maps_are_taken_at_once_where_there_are_enough() -> None:
    model, x = trained(MAPS, features=36)
    network = netsharp.compile(model, x).network
    several = {"c99": "row", "cortex-m": "rows", "host": "lanes"}
    for target in TARGETS:
        found, way = ways(network, target), several[target]
        assert found == dict.fromkeys("ABC", way) | {"D": "row", "Y": "row"}
    wide = netsharp.compile(model, x, activations="int16/12", weights="int16").network
    assert all(one.wide for one in wide.layers if one.pool is None)
    assert set(ways(wide, "cortex-m").values()) == {"rows"}
    assert set(ways(wide, "host").values()) == {"row"}
    # Numbers of 16 bits without a sign are none that processors multiply in pairs.
    unsigned = netsharp.compile(model, x, activations="uint16/10").network
    for target in TARGETS[1:]:
        assert [ways(unsigned, target)[name] for name in "BCY"] == ["row"] * 3


@pytest.mark.drawn
@pytest.mark.parametrize("target", TARGETS[1:])
@pytest.mark.parametrize("round_", range(12))
def test_networks_drawn_by_chance_on_every_target(
    round_: int, target: str, seed: int, tmp_path: Path
) -> None:
    model, x, settings = drawn(random.Random(f"{seed} {round_}"))
    made = netsharp.compile(model, x, **settings)
    assert differing(made, x[:40], target, tmp_path / "net", ("-O3", "-march=native")) == 0


def test_nodes_are_taken_at_once_where_there_are_enough() -> None:
    model, x = trained(SIZES, features=6)
    several = {"c99": "row", "cortex-m": "rows", "host": "lanes"}
    for settings in ({}, {"activations": "int16/12"}, {"activations": "uint10"}):
        network = netsharp.compile(model, x, **settings).network
        assert [layer.nodes for layer in network.layers] == [4, 5, 3, 11, 3]
        assert not any(layer.wide for layer in network.layers)
        for target in TARGETS:
            way = several[target]
            assert list(ways(network, target).values()) == [way, way, "row", way, "row"]


def test_what_is_written_for_a_target(tmp_path: Path) -> None:
    model, x = trained(DEEP)
    made = netsharp.compile(model, x)
    words = {"c99": "_row(", "cortex-m": "__smlad(", "host": "_lanes8("}
    for target in TARGETS:
        chosen: Any = target
        made.write(tmp_path / "net", target=chosen)
        code = (tmp_path / "net" / "net.c").read_text()
        assert words[target] in code
        assert ("__smlad(" in code) == (target == "cortex-m")
    unknown: Any = "avr"
    with pytest.raises(netsharp.CompileError, match="target is one of c99, cortex-m, host; 'avr'"):
        made.write(tmp_path / "net", target=unknown)
