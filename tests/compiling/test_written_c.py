"""The form of the C that is written: strict for every compiler in every file, for C++ as well, in
sections that a build chooses, and readable beside the specification.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import netsharp
from netsharp_compile.integers import INT32
from netsharp_compile.rescaling import multipliers_of
from tests.compiling.builds import COMPILERS, SANITIZED, STRICT, require_same_bits
from tests.compiling.networks import MAPS, ONE, trained

pytestmark = pytest.mark.filterwarnings("ignore:On training rows")
#: A layer on each third line, and windows, a pool, pairs and a full layer.
LINES = """\
// What a device is to compute.
input X [6, 6];
hidden Maps [2, 4, 4] tanh
  from X convolve { InputShape = [6, 6]; KernelShape = [3, 3]; MapCount = 2; }

hidden Most [2, 2, 2]
  from Maps max pool { InputShape = [2, 4, 4]; KernelShape = [1, 2, 2]; Stride = [1, 2, 2]; }
hidden Some [4] sigmoid { from Most where (s, d) => s[1] == 0; from Most all; }
output Y [3] softmax from Some all;
"""
#: What is written in other words: a row for each way that changes files.
WAYS: tuple[tuple[dict[str, Any], dict[str, Any]], ...] = (
    ({}, {"answers": "softmax"}),
    ({}, {"answers": "argmax", "target": "cortex-m"}),
    ({"requant": "shift"}, {"target": "host"}),
    ({"transfer": "arith"}, {}),
    ({"activations": "int16/12", "weights": "int16"}, {}),
    ({"activations": "symmetric8", "logits": "uint8"}, {"prefix": "other"}),
)


def strict(source: Path, compiler: str, *flags: str) -> Path:
    """Compile one file, of which nothing may be said."""
    made = source.with_suffix(".o")
    words = [compiler, *STRICT, *flags, "-c", str(source), "-o", str(made)]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return made


@pytest.mark.costly
@pytest.mark.parametrize(("settings", "written"), WAYS, ids=lambda one: " ".join(one.values()))
def test_every_file_is_strict_and_alone_by_every_compiler(
    settings: dict[str, Any], written: dict[str, Any], tmp_path: Path
) -> None:
    """No library, no memory taken, nothing that a call leaves behind; the test has its `main`."""
    model, x = trained(LINES, features=36, normalizer="minmax")
    netsharp.compile(model, x, **settings).write(tmp_path / "net", **written)
    prefix = written.get("prefix", "net")
    alone = ("-ffreestanding", "-fno-stack-protector", "-fno-pic", "-fno-pie")
    for compiler in COMPILERS:
        for source in sorted((tmp_path / "net").glob("*.c")):
            for flags in (("-O0",), ("-O2", "-DNETSHARP_WITH_FLOAT")):
                made = strict(source, compiler, *flags, *alone)
            output = subprocess.check_output(["nm", made], text=True)
            names = [line.split()[-2:] for line in output.splitlines()]
            # Clang asks for these of every environment, freestanding or not.
            foreign = {name for kind, name in names if kind == "U" and prefix not in name}
            assert foreign <= {"memset", "memcpy", "memmove"}, (source.name, foreign)
            left = [name for kind, name in names if kind in "BbCDd"]
            assert left == [] or source.name.endswith("_test.c"), (source.name, left)


@pytest.mark.parametrize("answers", ["values", "argmax", "softmax"])
def test_a_program_in_cpp_calls_it(answers: Any, tmp_path: Path) -> None:
    """By the names of C, in every header: what would be mangled is not found when linking."""
    compiler = shutil.which("g++") or shutil.which("clang++")
    if compiler is None:
        pytest.skip("no compiler of C++ is here")
    model, x = trained(ONE.format("tanh", "softmax"))
    netsharp.compile(model, x).write(tmp_path / "net", answers=answers)
    more = {
        "values": "const bool odd = net_argmax(y) < 0;",
        "argmax": "const bool odd = net_classify(x, scratch) < 0;",
        "softmax": "net_softmax(y, p);\n    const bool odd = p[0] > 32768;",
    }[answers]
    (tmp_path / "main.cc").write_text(
        '#include "net.h"\n#include "net_load.h"\n'
        "int main()\n{\n    net_in_t x[NET_IN] = {};\n    net_out_t y[NET_OUT];\n"
        "    uint16_t p[NET_OUT];\n    uint8_t scratch[NET_SCRATCH];\n    net_tables_t tables;\n"
        "    static_cast<void>(p);\n    net_run(x, y, scratch);\n"
        f"    {more}\n"
        "    return odd || net_load_tables(&tables, nullptr, 0) == 0;\n}\n"
    )
    sources = [one for one in (tmp_path / "net").glob("*.c") if not one.name.endswith("_test.c")]
    objects = [strict(one, COMPILERS[0]) for one in sources]
    words = [compiler, "-Wall", "-Wextra", "-Werror", f"-I{tmp_path / 'net'}"]
    program = tmp_path / "program"
    subprocess.run([*words, tmp_path / "main.cc", *objects, "-o", program], check=True)
    assert subprocess.run([program], check=False).returncode == 0


@pytest.mark.parametrize(("what", "macro"), [("weights", "WEIGHTS"), ("tables", "TABLES")])
def test_weights_and_tables_lie_where_a_build_says(what: str, macro: str, tmp_path: Path) -> None:
    model, x = trained(ONE.format("tanh", "softmax"))
    made = netsharp.compile(model, x)
    made.write(tmp_path / "net")
    section = f'-DNET_SECTION_{macro}=__attribute__((section("far")))'
    for name in ("", "_weights", "_tables"):
        built = strict(tmp_path / "net" / f"net{name}.c", COMPILERS[0], section)
        output = subprocess.check_output(["objdump", "-h", built], text=True)
        found = re.search(r" far +([0-9a-f]+)", output)
        sizes = {"weights": made.report.weight_bytes, "tables": made.report.table_bytes}
        if name == f"_{what}":
            assert found is not None
            assert sizes[what] <= int(found[1], 16) < sizes[what] + 32
        else:
            assert found is None


def test_each_layer_is_a_function_with_its_line_and_literal_sizes(tmp_path: Path) -> None:
    model, x = trained(LINES, features=36, normalizer="minmax")
    made = netsharp.compile(model, x)
    made.write(tmp_path / "net")
    code = (tmp_path / "net" / "net.c").read_text()
    wanted = {
        name: number
        for number, line in enumerate(LINES.splitlines(), 1)
        if (name := re.match(r"(?:hidden|output) (\w+)", line) and line.split()[1])
    }
    reported = re.findall(r"/\* (\w+), layer '(\w+)', line (\d+) \((\w[\w ,]*)", code)
    lines = {name: int(line) for name, _, line, _ in reported}
    assert lines.items() <= wanted.items()
    # A pool that is computed together with the layer that it reads is named there.
    assert set(wanted) - set(lines) <= {"Most"}
    for name in lines:
        (body,) = re.findall(rf"static void net_\d+_{name}\(.*?\n}}", code, re.DOTALL)
        assert re.search(r"[<\[]\s*\d", body), body
        assert "sizeof" not in body
    steps = re.findall(r"^    net_\d+_(\w+)\(", code, re.MULTILINE)
    assert steps == list(lines)


def test_the_worst_product_and_its_rounding_stay_below_63_bits(seed: int) -> None:
    """A multiplier narrows as sums grow: bounds up to 2^60, ratios of any size."""
    chance = np.random.default_rng(seed)
    ratios = np.ldexp(chance.uniform(0.5, 1, 400), chance.integers(-60, 40, 400))
    widest = []
    for bits in range(1, 61):
        bound = (1 << bits) - 1
        multipliers, shifts = multipliers_of(ratios, bound)
        for multiplier, shift in zip(multipliers.tolist(), shifts.tolist(), strict=True):
            assert bound * multiplier + (1 << shift >> 1) < 1 << 63
        widest.append(int(multipliers.max()).bit_length())
    assert widest == [min(31, 62 - bits) for bits in range(1, 61)]


@pytest.mark.costly
def test_the_worst_codes_of_wide_sums_overflow_nothing(tmp_path: Path) -> None:
    """Of each node those that reach its bound, in C under a sanitizer that sees overflow."""
    text = "input X auto; hidden H [3] tanh from X all; output Y auto softmax from H all;"
    model, x = trained(text, features=2000)
    made = netsharp.compile(model, x, weights="int16")
    first = made.network.layers[0]
    assert first.bound > INT32
    weights = first.parts[0].weights.astype(np.int64)
    ends = np.where(weights > 0, 1e6, -1e6)
    worst = np.concatenate([ends, -ends])
    sums = np.abs(made.network.features.of(worst).astype(np.int64) @ weights.T + first.biases)
    assert sums.max() > INT32
    assert sums.max() <= first.bound
    require_same_bits(made, worst, tmp_path, " ".join(SANITIZED))


def test_layers_of_one_kind_have_a_function_each(tmp_path: Path) -> None:
    """They are written alike, each with sizes of its own."""
    model, x = trained(MAPS, features=36)
    netsharp.compile(model, x).write(tmp_path / "net")
    code = (tmp_path / "net" / "net.c").read_text()
    names = re.findall(r"^static void net_(\d+)_(\w+)\(", code, re.MULTILINE)
    assert len(names) == len(set(names)) > 2
