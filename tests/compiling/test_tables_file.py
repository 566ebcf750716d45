"""Tables as a file: a device takes it where it is whole and its own, and nothing else, as Python
does; a network runs with the tables of another file.
"""

from __future__ import annotations

import random
import struct
import subprocess
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from zlib import crc32

import numpy as np
import pytest

import netsharp
from netsharp_compile.integers import IntegerNetwork
from netsharp_compile.writing.loader import ANSWERS
from netsharp_compile.writing.manifest import network_of
from netsharp_compile.writing.tables_file import (
    CHECKED_FROM,
    rising_tables,
    tables_file,
    with_tables,
)
from tests.compiling.networks import DEEP, ONE, trained
from tests.compiling.test_compile import COMPILERS, SANITIZED, STRICT

pytestmark = pytest.mark.filterwarnings("ignore:On training rows")
GOOD, STRANGE, VERSION, DAMAGED, OTHER, FALLING, _PLACED = range(len(ANSWERS))
#: Reads files, each preceded by its length and, if it loads, followed by the codes of a row; prints
#: what loading returned and, if it succeeded, the network's outputs for the row.
LOADS = """\
#include <stdio.h>
#include <stdlib.h>
#include "net_load.h"
int main(void)
{
    static net_in_t x[NET_IN];
    net_out_t y[NET_OUT];
    uint8_t scratch[NET_SCRATCH];
    uint32_t length;
    net_tables_t tables = net_tables, kept;
    while (fread(&length, sizeof length, 1, stdin) == 1 && length != 0xFFFFFFFFu) {
        void *file = malloc(length ? length : 1);
        if (fread(file, 1, length, stdin) != length)
            return 1;
        kept = tables;
        const int answer = net_load_tables(&tables, file, length);
        printf("%d\\n", answer);
        if (answer == 0) {
            if (fread(x, sizeof x, 1, stdin) != 1)
                return 2;
            net_run_with(&tables, x, y, scratch);
            for (int n = 0; n < NET_OUT; n++)
                printf("%d\\n", y[n]);
        } else if (tables.table[0] != kept.table[0])
            return 3;
        tables = net_tables;
        free(file);
    }
    return 0;
}
"""


def loads(folder: Path, codes: np.ndarray, files: list[bytes]) -> Iterator[tuple[int, list[int]]]:
    """What a device says to each file, and what it answers where the file is good."""
    (folder / "loads.c").write_text(LOADS)
    sources = [folder / "net" / f"net{part}.c" for part in ("", "_weights", "_tables", "_load")]
    command = [COMPILERS[0], *STRICT, *SANITIZED, f"-I{folder / 'net'}", *sources]
    subprocess.run([*command, folder / "loads.c", "-o", folder / "loads"], check=True)
    given = b""
    for data in files:
        given += struct.pack("<I", len(data)) + data
        given += codes.tobytes() if answer_of(folder, data) == GOOD else b""
    done = subprocess.run(
        [folder / "loads"], input=given + b"\xff" * 4, capture_output=True, check=False
    )
    assert done.returncode == 0, done.stderr.decode()
    output = iter(map(int, done.stdout.split()))
    outputs = network_in(folder).layers[-1].nodes
    for answer in output:
        yield answer, [next(output) for _ in range(outputs if answer == GOOD else 0)]


def network_in(folder: Path) -> IntegerNetwork:
    return network_of((folder / "net" / "net.json").read_text())[0]


def answer_of(folder: Path, data: bytes) -> int:
    """What a device says to a file, by what Python says."""
    try:
        with_tables(network_in(folder), data)
    except netsharp.CompileError as error:
        message = str(error)
        assert message.endswith(".")
        known = {
            "not a file of": STRANGE,
            "has version": VERSION,
            "another": OTHER,
            "falls": FALLING,
        }
        return next((answer for words, answer in known.items() if words in message), DAMAGED)
    return GOOD


def sealed(data: bytes) -> bytes:
    """A file with the checksum of what it holds."""
    (length,) = struct.unpack_from("<I", data, 8)
    checked = data[CHECKED_FROM : max(length, CHECKED_FROM)]
    return data[: CHECKED_FROM - 4] + struct.pack("<I", crc32(checked)) + data[CHECKED_FROM:]


@pytest.mark.costly
def test_a_device_takes_a_whole_file_and_no_other(seed: int, tmp_path: Path) -> None:
    model, x = trained(DEEP)
    made = netsharp.compile(model, x)
    made.write(tmp_path / "net")
    whole = (tmp_path / "net" / "net.tables.bin").read_bytes()
    assert whole == tables_file(made.network)
    chance = random.Random(seed)
    files = [whole, whole + b"more", b"", whole[:7], whole[:-1], whole[: len(whole) // 2]]
    for place in [*range(60), *chance.choices(range(len(whole)), k=40)]:
        changed = bytearray(whole)
        changed[place] ^= 1 << chance.randrange(8)
        files.append(bytes(changed))
        # As an attacker would who knows the format.
        if place >= CHECKED_FROM or place == 8:
            files.append(sealed(bytes(changed)))
    large = bytearray(whole)
    struct.pack_into("<I", large, 20, 0xFFFFFFFC)
    files.append(sealed(bytes(large)))
    for count in (0, 1, 3, 0xFFFF):
        changed = bytearray(whole)
        struct.pack_into("<H", changed, 6, count)
        files.append(bytes(changed))
    codes = made.network.features.of(x[:1])
    found = list(loads(tmp_path, codes, files))
    assert [answer for answer, _ in found] == [answer_of(tmp_path, one) for one in files]
    assert {answer for answer, _ in found} == {GOOD, STRANGE, VERSION, DAMAGED, OTHER}
    assert found[0][1] == made.network.simulate(codes)[-1][0].tolist()
    for (answer, given), data in zip(found, files, strict=True):
        if answer == GOOD:
            again = with_tables(made.network, data).simulate(codes)[-1][0]
            assert given == again.tolist()


def test_a_network_runs_with_tables_that_came_later(tmp_path: Path) -> None:
    model, x = trained(DEEP)
    made = netsharp.compile(model, x)
    made.write(tmp_path / "net")
    turned = tuple(np.flip(one).copy() for one in made.network.tables)
    other = replace(made.network, tables=turned)
    codes = made.network.features.of(x[:1])
    wanted = other.simulate(codes)[-1][0].tolist()
    assert wanted != made.network.simulate(codes)[-1][0].tolist()
    assert list(loads(tmp_path, codes, [tables_file(other)])) == [(GOOD, wanted)]


@pytest.mark.costly
def test_a_table_in_front_of_largest_sums_may_not_fall(tmp_path: Path) -> None:
    """Largest values are those of largest sums as long as nothing between falls."""
    text = """
    input X [6];
    hidden C [2, 4] tanh from X convolve { InputShape = [6]; KernelShape = [3]; MapCount = 2; }
    hidden P [2, 2] from C max pool { InputShape = [2, 4]; KernelShape = [1, 2]; Stride = [1, 2]; }
    output Y [2] softmax from P all;
    """
    x = np.random.default_rng(1).normal(size=(200, 6))
    model = netsharp.train(text, x, (x[:, 0] > x[:, 5]).astype(int), epochs=3)
    made = netsharp.compile(model, x)
    made.write(tmp_path / "net")
    network = made.network
    (number,) = rising_tables(network)
    rising, falling = (network.tables[number].copy() for _ in range(2))
    rising[: rising.size // 2] = rising[0]
    falling[7] = falling[6] - 1
    files = [
        tables_file(
            replace(
                network,
                tables=tuple(
                    one if place == number else each for place, each in enumerate(network.tables)
                ),
            )
        )
        for one in (rising, falling)
    ]
    codes = network.features.of(x[:1])
    wanted = with_tables(network, files[0]).simulate(codes)[-1][0].tolist()
    assert list(loads(tmp_path, codes, files)) == [(GOOD, wanted), (FALLING, [])]
    with pytest.raises(netsharp.CompileError, match="A table falls"):
        with_tables(network, files[1])


def test_tables_are_of_their_network_and_may_mean_something_else(tmp_path: Path) -> None:
    """Another name or function makes no difference; another weight does, though no shape does."""
    model, x = trained(ONE.format("tanh", "softmax"))
    made = netsharp.compile(model, x).network
    named = replace(made.layers[0], name="Other", function="sigmoid")
    same = replace(made, layers=(named, *made.layers[1:]))
    assert tables_file(same) == tables_file(made)
    model.tensors["H/biases"][:] += 0.5
    with pytest.raises(netsharp.CompileError, match="those of another network"):
        with_tables(netsharp.compile(model, x).network, tables_file(made))


@pytest.mark.parametrize("function", ["rlinear", "linear"])
def test_a_network_without_tables_has_a_file_of_none(function: str, tmp_path: Path) -> None:
    model, x = trained(ONE.format(function, "softmax"))
    made = netsharp.compile(model, x)
    made.write(tmp_path / "net")
    assert made.network.tables == ()
    codes = made.network.features.of(x[:1])
    wanted = made.network.simulate(codes)[-1][0].tolist()
    assert list(loads(tmp_path, codes, [tables_file(made.network)])) == [(GOOD, wanted)]
