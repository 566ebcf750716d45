"""Tables are exchanged on a device: it runs with those of a file, and refuses the file with any bit
of it changed.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import netsharp
from netsharp_compile.writing.tables_file import tables_file
from tests.boards.images import BOARDS, STRICT
from tests.boards.test_boards import require_board
from tests.compiling.networks import ONE, trained

pytestmark = [pytest.mark.costly, pytest.mark.filterwarnings("ignore:On training rows")]
#: Returns which step failed; 0 if none did.
MAIN = """\
#include "net_load.h"
static const net_in_t x[NET_IN] = {%(codes)s};
static const net_out_t wanted[NET_OUT] = {%(answers)s};
/* As it lies in a memory that is written from outside. */
static const uint32_t stored[] = {%(file)s};
enum { LENGTH = sizeof stored };
int main(void)
{
    static uint8_t scratch[NET_SCRATCH];
    static union { uint8_t bytes[LENGTH]; uint32_t aligned; } copy;
    net_out_t y[NET_OUT];
    net_tables_t tables = net_tables;
    int differing = 0;
    if (net_load_tables(&tables, stored, LENGTH))
        return 1;
    if (tables.table[0] == net_tables.table[0])
        return 2;
    net_run_with(&tables, x, y, scratch);
    for (int n = 0; n < NET_OUT; n++)
        differing += y[n] != wanted[n];
    if (differing)
        return 3;
    net_run(x, y, scratch);
    for (int n = 0; n < NET_OUT; n++)
        differing += y[n] != wanted[n];
    if (!differing)
        return 4;
    for (uint32_t n = 0; n < LENGTH; n++)
        copy.bytes[n] = ((const uint8_t *)stored)[n];
    for (uint32_t n = 0; n < LENGTH; n++) {
        copy.bytes[n] ^= (uint8_t)(1u << n %% 8);
        if (!net_load_tables(&tables, copy.bytes, LENGTH))
            return 5;
        copy.bytes[n] ^= (uint8_t)(1u << n %% 8);
    }
    if (net_load_tables(&tables, copy.bytes, LENGTH))
        return 6;
    if (net_load_tables(&tables, copy.bytes, LENGTH - 1) != NET_TABLES_DAMAGED)
        return 7;
    if (net_load_tables(&tables, copy.bytes + 1, LENGTH) != NET_TABLES_PLACED)
        return 8;
    return 0;
}
"""


@pytest.mark.parametrize("name", BOARDS.BOARDS)
def test_a_board_takes_other_tables_and_no_damaged_ones(name: str, tmp_path: Path) -> None:
    require_board(name)
    model, x = trained(ONE.format("tanh", "softmax"))
    made = netsharp.compile(model, x)
    made.write(tmp_path / "net")
    turned = tuple(np.flip(one).copy() for one in made.network.tables)
    other = replace(made.network, tables=turned)
    codes = made.network.features.of(x[:1])
    data = tables_file(other)
    words = np.frombuffer(data + bytes(-len(data) % 4), "<u4")
    text = MAIN % {
        "codes": ", ".join(map(str, codes[0].tolist())),
        "answers": ", ".join(map(str, other.simulate(codes)[-1][0].tolist())),
        "file": ", ".join(f"{one}u" for one in words.tolist()),
    }
    (tmp_path / "main.c").write_text(text)
    parts = ("", "_weights", "_tables", "_load")
    sources = [tmp_path / "main.c", *(tmp_path / "net" / f"net{part}.c" for part in parts)]
    flags = ("-O2", f"-I{tmp_path / 'net'}", *(one for one in STRICT if one != "-pedantic"))
    BOARDS.build(BOARDS.BOARDS[name], sources, tmp_path / "image.elf", *flags)
    answer, output = BOARDS.run(BOARDS.BOARDS[name], tmp_path / "image.elf")
    assert answer == 0, output
