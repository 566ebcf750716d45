"""Transfer functions in fixed point, which are there to compare with: near to tables, the same bits
everywhere, and refused by name where there are none.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import netsharp
from netsharp_compile.formulas import formula_of
from netsharp_compile.operators import chain_of
from netsharp_compile.refusal import CompileError
from netsharp_compile.schemes import QuantizationScheme
from netsharp_compile.tables import transfer_table
from netsharp_compile.writing.manifest import network_of
from netsharp_engine.activations import NAMES
from tests.cli.command_line import netsharp as command
from tests.compiling.builds import SANITIZED, require_same_bits
from tests.compiling.networks import DEEP, ONE, trained

pytestmark = pytest.mark.filterwarnings("ignore:On training rows")
FUNCTIONS = [one for one in NAMES if one != "softmax"]


@pytest.mark.parametrize("bits", [8, 12, 16])
@pytest.mark.parametrize("function", FUNCTIONS)
def test_no_code_is_more_than_one_off_that_of_the_table(
    function: str, bits: int, seed: int
) -> None:
    """And hardly any is off at all: where the exact value is all but between two codes."""
    chance = np.random.default_rng(seed)
    differing = []
    for number in range(12 if bits < 16 else 2):
        reach = 10 ** chance.uniform(-1, 1.3)
        low, high = -reach * chance.uniform(0, 1), reach
        operand: Any = ("unsigned", "signed")[number % 2]
        source = QuantizationScheme.asymmetric(low, high, bits, operand)
        (operator,) = chain_of(function)
        values = operator.values(source.dequantize(source.codes()))
        ends = min(float(values.min()), 0.0), float(values.max())
        target = QuantizationScheme.asymmetric(*ends, bits)
        table = transfer_table(source, function, target, big_tables=True).values
        found = formula_of(function, source, target).codes(source.codes(), source, target)
        apart = np.abs(found.astype(int) - table.astype(int))
        assert apart.max() <= 1
        differing.append((apart > 0).mean())
    assert np.mean(differing) < 0.02


@pytest.mark.parametrize("function", FUNCTIONS)
def test_every_formula_has_the_same_bits_everywhere(function: str, tmp_path: Path) -> None:
    """In the simulator, in whole numbers of any size, and in C under sanitizers."""
    model, x = trained(ONE.format(function, "softmax"), epochs=10)
    settings: Any = {"activations": "int12", "range": "minmax"}
    made = netsharp.compile(model, x, transfer="arith", **settings)
    assert made.network.tables == ()
    formula = made.network.layers[0].formula
    assert formula is None if function == "linear" else formula is not None
    require_same_bits(made, x[:40], tmp_path, "-O2", " ".join(SANITIZED))
    text = (tmp_path / "net" / "net.c").read_text()
    assert "table[" not in text.replace("tables->table", "")


def test_what_rises_and_falls_is_pooled_after_its_formula(tmp_path: Path) -> None:
    text = (
        "input X [6]; hidden H [6] {} from X all; hidden P [3] from H max pool {{ InputShape = [6];"
        " KernelShape = [2]; Stride = [2]; }} output Y [3] softmax from P all;"
    )
    for function in ("abs", "tanh"):
        model, x = trained(text.format(function))
        made = netsharp.compile(model, x, transfer="arith", range="minmax")
        require_same_bits(made, x[:40], tmp_path, "-O2")


def test_wide_sums_need_no_large_table_then() -> None:
    model, x = trained(DEEP, epochs=20)
    with pytest.raises(CompileError, match="--big-tables"):
        netsharp.compile(model, x, activations="int16")
    made = netsharp.compile(model, x, activations="int16", weights="int16", transfer="arith")
    usual = netsharp.compile(model, x, activations="int16", weights="int16", big_tables=True)
    assert made.report.tables == 0
    assert usual.report.tables > 0
    assert made.report.error < 1.1 * usual.report.error
    assert {one.why for one in made.report.layers} >= {"computed in fixed point"}


def test_the_manifest_says_so_and_the_command_answers_by_it(tmp_path: Path) -> None:
    model, x = trained(ONE.format("sigmoid", "softmax"), epochs=20)
    netsharp.save(model, tmp_path / "m.safetensors")
    names = [f"column{number + 1}" for number in range(6)]
    rows = [",".join(names), *(",".join(map(str, row)) for row in x[:50].tolist())]
    (tmp_path / "rows.csv").write_text("\n".join(rows) + "\n")
    options = ("--calibrate", "rows.csv", "--output", "made", "--transfer", "arith")
    done = command("compile", "m.safetensors", *options, cwd=tmp_path)
    assert done.code == 0, done.err
    manifest = json.loads((tmp_path / "made" / "net.json").read_text())
    assert manifest["layers"][0]["formula"]["function"] == "sigmoid"
    assert manifest["tables"] == []
    output = command("simulate", "made/net.json", "--data", "rows.csv", cwd=tmp_path)
    assert output.code == 0
    assert len(output.out.splitlines()) == 51
    plan = command("compile", "m.safetensors", "--explain", "--transfer", "arith", cwd=tmp_path)
    assert "no table: computed in fixed point" in plan.out


def test_what_has_no_formula_is_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"srlinear has no formula .* only up to 127: .*lut"):
        formula_of(
            "srlinear",
            QuantizationScheme.affine(200.0, 0),
            QuantizationScheme.affine(200.0, 0),
        )
    model, x = trained(ONE.format("tanh", "softmax"))
    unknown: Any = "cordic"
    with pytest.raises(CompileError, match="transfer is one of lut, arith; 'cordic' is none"):
        netsharp.compile(model, x, transfer=unknown)
    netsharp.compile(model, x, transfer="arith").write(tmp_path / "net")
    plain = json.loads((tmp_path / "net" / "net.json").read_text())
    for key, value in (("function", "erf"), ("shift", 63), ("multiplier", -1), ("most", 999)):
        wrong = json.loads(json.dumps(plain))
        wrong["layers"][0]["formula"][key] = value
        with pytest.raises(CompileError, match="The manifest is damaged"):
            network_of(json.dumps(wrong))


def test_a_network_that_was_trained_with_tables_keeps_them() -> None:
    model, x = trained(ONE.format("tanh", "softmax"), quantize="uint6")
    with pytest.raises(CompileError, match="trained with tables, which --transfer arith"):
        netsharp.compile(model, x, transfer="arith")
