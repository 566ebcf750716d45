"""Compiled networks in C, built by every available compiler, beside the simulator and an evaluation
in whole numbers of any size.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path

import numpy as np

from netsharp_compile.compiled import CompiledNetwork
from netsharp_compile.writing.manifest import network_of
from tests.cli.test_schemas import schema
from tests.compiling.slowly import answers_of
from tests.conftest import SEED

#: Each compiler once, whatever names it has.
COMPILERS = [
    *{
        os.path.realpath(path): name
        for name in ("cc", "clang", "gcc")
        if (path := shutil.which(name))
    }.values()
]
STRICT = ("-std=c99", "-pedantic", "-Wall", "-Wextra", "-Wconversion", "-Wtrigraphs", "-Werror")
SANITIZED = ("-O1", "-g1", "-fsanitize=address,undefined", "-fno-sanitize-recover=all")
#: Reads codes of rows and writes those of the answers.
RUNS = """\
#include <stdio.h>
#include "net.h"
int main(void)
{
    static net_in_t x[NET_IN];
    static net_out_t y[NET_OUT];
    static uint8_t scratch[NET_SCRATCH];
    while (fread(x, sizeof x, 1, stdin) == 1) {
        net_run(x, y, scratch);
        fwrite(y, sizeof y, 1, stdout);
    }
    return 0;
}
"""


def odd_codes(network: CompiledNetwork, rows: np.ndarray) -> np.ndarray:
    """Codes of rows, all of the least, all of the largest, and codes drawn by chance."""
    scheme = network.network.features.codes
    chance = np.random.default_rng(SEED)
    width = rows.shape[1]
    ends = [np.full((1, width), code, scheme.dtype) for code in (scheme.least, scheme.most)]
    drawn = chance.integers(scheme.least, scheme.most + 1, (50, width)).astype(scheme.dtype)
    return np.concatenate([network.network.features.of(rows), *ends, drawn])


def built(folder: Path, compiler: str, *flags: str, main: str = "main.c") -> Path:
    """Compile the files of a network strictly, with a main program, and return the executable."""
    program = folder.parent / "program"
    sources = [str(folder / f"net{part}.c") for part in ("", "_weights", "_tables")]
    command = [compiler, *STRICT, *flags, f"-I{folder}", *sources, str(folder.parent / main)]
    done = subprocess.run(
        [*command, "-o", str(program)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return program


def require_same_bits(
    network: CompiledNetwork, rows: np.ndarray, folder: Path, *flags: str
) -> None:
    """Run the network in C, and in whole numbers of any size, beside the simulator."""
    codes = odd_codes(network, rows)
    found = network.network.simulate(codes)
    network.write(folder / "net")
    (folder / "main.c").write_text(RUNS)
    text = (folder / "net" / "net.json").read_text()
    manifest = json.loads(text)
    schema("manifest.json").validate(manifest)
    products = sum(one.multiply_adds + one.nodes for one in network.network.layers)
    step = max(1, products // 300)  # As much as takes a moment.
    chosen = [*range(0, len(rows), 37 * step), *range(len(rows), len(codes), 5 * step)]
    for row in chosen:
        assert answers_of(manifest, codes[row].tolist()) == found[-1][row].tolist()
    read, _ = network_of(text)
    for layer, again in zip(found, read.simulate(codes), strict=True):
        np.testing.assert_array_equal(layer, again)
    for compiler in COMPILERS:
        for flag in flags or ("-O0", "-O2"):
            if "sanitize" in flag and compiler != COMPILERS[0]:
                continue  # Its libraries are packages of their own.
            program = built(folder / "net", compiler, *flag.split())
            done = subprocess.run([program], input=codes.tobytes(), capture_output=True, check=True)
            given = np.frombuffer(done.stdout, found[-1].dtype).reshape(found[-1].shape)
            np.testing.assert_array_equal(given, found[-1])
    built(folder / "net", COMPILERS[0], main="net/net_test.c")
    assert subprocess.run([folder / "program"], check=False).returncode == 0
