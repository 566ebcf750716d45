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
from netsharp_compile.widths import ACTIVATIONS, WEIGHTS
from netsharp_compile.writing.c_files import c_files
from netsharp_compile.writing.c_rows import ROWS, TARGETS, takes_kernels, takes_rows
from tests.compiling.builds import COMPILERS, SANITIZED, STRICT, odd_codes
from tests.compiling.networks import DEEP, MAPS, drawn, trained

pytestmark = pytest.mark.filterwarnings("ignore:On training rows")
#: Layers of every rest of four, rows of values of every rest, and several bundles into one layer.
SIZES = (
    "input X auto; hidden A [4] tanh from X all; hidden B [5] rlinear { from A all; from X all; }"
    "hidden C [3] sigmoid from B all; hidden D [11] tanh { from C all; from A all; from B all; }"
    "output Y auto from D all;"
)
FLAGS = (("-O0",), ("-O3", "-march=native"), SANITIZED)


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
@pytest.mark.parametrize("activations", ACTIVATIONS)
@pytest.mark.parametrize("weights", WEIGHTS)
@pytest.mark.parametrize("target", TARGETS[1:])
@pytest.mark.parametrize(("text", "features"), [(SIZES, 6), (MAPS, 36)], ids=["rows", "maps"])
def test_every_target_gives_the_same_bits(
    text: str, features: int, target: str, weights: Any, activations: Any, tmp_path: Path
) -> None:
    model, x = trained(text, features=features)
    made = netsharp.compile(model, x, activations=activations, weights=weights)
    for flags in FLAGS:
        assert differing(made, x[:40], target, tmp_path / "net", flags) == 0


def test_maps_are_taken_by_four_where_bytes_meet_bytes_in_32_bits() -> None:
    model, x = trained(MAPS, features=36)
    network = netsharp.compile(model, x).network
    wide = netsharp.compile(model, x, weights="int16").network
    for target in TARGETS:
        taken = {
            layer.name
            for layer in network.layers
            if takes_kernels(network, layer, target, copied=layer.pool is None)
        }
        assert taken == (set() if target == "c99" else {"A", "B", "C"})
        assert not any(takes_kernels(wide, one, target, copied=True) for one in wide.layers)
    assert not any(takes_kernels(network, one, "host", copied=False) for one in network.layers)


@pytest.mark.drawn
@pytest.mark.parametrize("target", TARGETS[1:])
@pytest.mark.parametrize("round_", range(12))
def test_networks_drawn_by_chance_on_every_target(
    round_: int, target: str, seed: int, tmp_path: Path
) -> None:
    model, x, settings = drawn(random.Random(f"{seed} {round_}"))
    made = netsharp.compile(model, x, **settings)
    assert differing(made, x[:40], target, tmp_path / "net", ("-O3", "-march=native")) == 0


def test_rows_are_taken_where_bytes_meet_bytes_in_32_bits() -> None:
    model, x = trained(SIZES, features=6)
    network = netsharp.compile(model, x).network
    for target in TARGETS:
        taken = [takes_rows(network, layer, target) for layer in network.layers]
        wanted = [target != "c99" and layer.nodes >= ROWS for layer in network.layers]
        assert taken == wanted
    assert [layer.nodes for layer in network.layers] == [4, 5, 3, 11, 3]
    wide = netsharp.compile(model, x, weights="int16").network
    assert not any(takes_rows(wide, layer, "host") for layer in wide.layers)


def test_what_is_written_for_a_target(tmp_path: Path) -> None:
    model, x = trained(DEEP)
    made = netsharp.compile(model, x)
    words = {"c99": "for (int i", "cortex-m": "__smlad(", "host": "wide0["}
    for target in TARGETS:
        chosen: Any = target
        made.write(tmp_path / "net", target=chosen)
        code = (tmp_path / "net" / "net.c").read_text()
        assert words[target] in code
        assert ("__smlad(" in code) == (target == "cortex-m")
    unknown: Any = "avr"
    with pytest.raises(netsharp.CompileError, match="target is one of c99, cortex-m, host; 'avr'"):
        made.write(tmp_path / "net", target=unknown)
