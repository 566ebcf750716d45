"""The system of transfer functions as tables, requirement by requirement, P1 to P15."""

from __future__ import annotations

import json
import math
import re
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import netsharp
from netsharp_compile.compiled import CompiledNetwork
from netsharp_compile.schemes import OPERANDS, QuantizationScheme
from netsharp_engine.activations import NAMES
from tests.compiling.builds import COMPILERS, STRICT, built, require_same_bits
from tests.compiling.networks import DEEP, ONE, trained
from tests.compiling.seed_tables import EXAMPLES, lines

pytestmark = pytest.mark.filterwarnings("ignore:On training rows")
TANH = QuantizationScheme.asymmetric(-3.0, 2.5, 8)
NEXT = QuantizationScheme.symmetric(1.0, 8)


@pytest.fixture(scope="module")
def deep() -> tuple[CompiledNetwork, Any]:
    """Two layers with tanh, one rectified, and answers."""
    model, x = trained(DEEP)
    return netsharp.compile(model, x), x


def test_p01_the_host_writes_code_and_tables_beforehand(deep: Any, tmp_path: Path) -> None:
    deep[0].write(tmp_path / "net")
    assert "static void net_1_A(" in (tmp_path / "net" / "net.c").read_text()
    assert "table_0[256] = {" in (tmp_path / "net" / "net_tables.c").read_text()


def test_p02_a_table_accounts_for_both_schemes_and_the_operator_at_once() -> None:
    table = netsharp.transfer_table(TANH, "tanh", NEXT).values
    for code, entry in zip(TANH.codes().tolist(), table.tolist(), strict=True):
        value = math.tanh((code - TANH.zero_point) * TANH.scale)
        assert entry == math.floor(value / NEXT.scale + 0.5)


def test_p03_schemes_and_widths_of_both_sides_are_equal_or_not() -> None:
    for bits, other in ((8, 8), (8, 16), (16, 8), (12, 5)):
        source = QuantizationScheme.asymmetric(-2.0, 2.0, bits)
        target = QuantizationScheme.symmetric(2.0, other)
        table = netsharp.transfer_table(source, "identity", target, big_tables=True)
        apart = target.dequantize(table.values) - source.dequantize(source.codes())
        assert np.abs(apart).max() <= target.scale / 2 + source.scale
    assert netsharp.transfer_table(NEXT, "identity", NEXT).is_identity


def test_p04_operands_are_unsigned_signed_or_symmetric() -> None:
    ends = {(one, b): (0, 2**b - 1) for one in OPERANDS[:1] for b in (4, 8, 16)}
    ends |= {("signed", b): (-(2 ** (b - 1)), 2 ** (b - 1) - 1) for b in (4, 8, 16)}
    ends |= {("symmetric", b): (1 - 2 ** (b - 1), 2 ** (b - 1) - 1) for b in (4, 8, 16)}
    for (operand, bits), (least, most) in ends.items():
        scheme = QuantizationScheme.affine(0.1, 0, bits, operand)  # type: ignore[arg-type]
        assert (scheme.least, scheme.most) == (least, most)


@pytest.mark.parametrize("operand", OPERANDS)
def test_p05_the_index_is_the_distance_from_the_least_code(operand: Any) -> None:
    source = QuantizationScheme.asymmetric(-1.0, 1.0, 8, operand)
    table = netsharp.transfer_table(source, "tanh", NEXT)
    assert len(table.values) == (255 if operand == "symmetric" else 256)
    for j in (source.least, 0, source.most):
        moved = {"unsigned": 0, "signed": 128, "symmetric": 127}[operand]
        assert table.look_up(j) == table.values[j + moved]


def test_p06_every_code_is_dequantised_operated_on_and_quantised() -> None:
    for name, function in (("tanh", math.tanh), ("erf", math.erf), ("square", lambda x: x * x)):
        table = netsharp.transfer_table(TANH, name, QuantizationScheme.asymmetric(-1, 9, 10))
        values = [function(one) for one in TANH.dequantize(TANH.codes()).tolist()]
        np.testing.assert_array_equal(table.values, table.target.quantize(values))


def test_p07_any_kind_of_scheme_stands_on_either_side() -> None:
    kinds = [
        QuantizationScheme.affine(0.02, 100),
        QuantizationScheme.asymmetric(-1.0, 2.0),
        QuantizationScheme.symmetric(2.0),
        QuantizationScheme.qmn(1, 6),
    ]
    for source in kinds:
        for target in kinds:
            table = netsharp.transfer_table(source, "sigmoid", target)
            exact = 1 / (1 + np.exp(-source.dequantize(source.codes())))
            clipped = np.clip(exact, *target.dequantize([target.least, target.most]))
            assert np.abs(target.dequantize(table.values) - clipped).max() <= target.scale * 0.5001


def test_p08_operators_of_the_seed_and_of_net_sharp_and_of_two_operands() -> None:
    for operator in ("tanh", "sigmoid", ("leaky relu", 0.1), "erf", "identity", *NAMES):
        if operator != "softmax":
            assert len(netsharp.transfer_table(TANH, operator, NEXT).values) == 256
    table = netsharp.transfer_table((NEXT, NEXT), "multiply", NEXT)
    assert table.values.shape == (255, 255)
    assert table.look_up(127, -127) == -127
    with pytest.raises(ValueError, match="at most 16 bits together"):
        netsharp.transfer_table((NEXT, QuantizationScheme.symmetric(1.0, 12)), "add", NEXT)


def test_p09_a_chain_is_one_table_without_rounding_in_between() -> None:
    chain: Any = [("leaky relu", 0.1), "tanh", ("multiply", 0.5)]
    table = netsharp.transfer_table(TANH, chain, NEXT)
    x = TANH.dequantize(TANH.codes())
    values = np.tanh(np.where(x < 0, 0.1 * x, x)) * 0.5
    np.testing.assert_array_equal(table.values, NEXT.quantize(values))


def test_p10_pairs_share_tables_that_are_equal(deep: Any) -> None:
    network = deep[0].network
    numbers = [one.table for one in network.layers if one.table is not None]
    assert len(network.tables) < len(numbers)
    assert network.layers[0].table == network.layers[1].table
    assert len({(one.dtype.str, one.tobytes()) for one in network.tables}) == len(network.tables)


def test_p11_tables_reflect_the_weights_after_training_and_during_it(tmp_path: Path) -> None:
    model, x = trained(ONE.format("tanh", "softmax"))
    before = netsharp.compile(model, x, share_tables=False).network.tables[0]
    model.tensors["H/X/weights"][:] *= 0.2
    model.tensors["H/biases"][:] *= 0.2
    after = netsharp.compile(model, x, share_tables=False).network.tables[0]
    assert not np.array_equal(before, after)
    model, x = trained(ONE.format("tanh", "softmax"), quantize="uint6", epochs=4)
    made = netsharp.compile(model, x)
    assert len(made.network.tables[0]) == 64


def test_p12_code_and_tables_are_apart_and_tables_are_replaced_alone(
    deep: Any, tmp_path: Path
) -> None:
    deep[0].write(tmp_path / "net")
    code = (tmp_path / "net" / "net.c").read_text()
    assert not re.search(r"table_\d+\[", code)
    flags = [COMPILERS[0], *STRICT, '-DNET_SECTION_TABLES=__attribute__((section("far")))']
    source = tmp_path / "net" / "net_tables.c"
    subprocess.run([*flags, "-c", source, "-o", tmp_path / "o"], check=True)
    assert "far" in subprocess.check_output(["objdump", "-h", tmp_path / "o"], text=True)
    assert (tmp_path / "net" / "net.tables.bin").read_bytes()[:4] == b"NSTB"


def test_p13_a_device_fetches_element_by_element_and_computes_nothing(
    deep: Any, tmp_path: Path
) -> None:
    made, x = deep
    require_same_bits(made, x[:40], tmp_path, "-O2")
    code = (tmp_path / "net" / "net.c").read_text()
    (function,) = re.findall(r"static void net_1_A\(.*?\n}", code, re.DOTALL)
    least = made.network.layers[0].result.least
    assert ("= table[code];" if not least else f"= table[code - ({least})];") in function
    assert "float" not in code


def test_p14_answers_lead_to_a_decision(deep: Any, tmp_path: Path) -> None:
    made, x = deep
    made.write(tmp_path / "net", answers="argmax")
    assert "int net_classify(" in (tmp_path / "net" / "net.h").read_text()
    sources = [str(one) for one in sorted((tmp_path / "net").glob("*.c"))]
    program = tmp_path / "program"
    subprocess.run([COMPILERS[0], *STRICT, *sources, "-o", program], check=True)
    assert subprocess.run([program], check=False).returncode == 0
    assert set(made.simulate(x).predicted) <= {"no", "yes", "maybe"}


@pytest.mark.parametrize(("weights", "most"), [("int8", 127), ("int16", 32767)])
def test_p15_weights_have_8_or_16_bits(weights: Any, most: int, tmp_path: Path) -> None:
    model, x = trained(DEEP)
    made = netsharp.compile(model, x, weights=weights)
    made.write(tmp_path / "net")
    (tmp_path / "main.c").write_text("int main(void) { return 0; }\n")
    built(tmp_path / "net", COMPILERS[0])
    for layer in json.loads((tmp_path / "net" / "net.json").read_text())["layers"]:
        for bundle in layer["bundles"]:
            assert bundle["weights"]["type"] == weights
            assert np.abs(bundle["weights"]["values"]).max() <= most
    largest = [np.abs(part.weights).max() for one in made.network.layers for part in one.parts]
    assert max(largest) == most


def test_the_documents_show_the_tables_of_the_seed_s_examples() -> None:
    """They are printed again by ``python -m tests.compiling.seed_tables``."""
    text = (Path(__file__).parents[2] / "docs" / "python.md").read_text(encoding="utf-8")
    assert "\n".join(lines()) in text
    assert len(EXAMPLES) == 7
