"""The page about nodes says what the tables of the code say."""

from __future__ import annotations

from netsharp_engine.ops.tensors.shaping import COLUMNS
from netsharp_lsp.cntk.networks.node_types import NODE_TYPES
from tests.cntk.training import node_table


def test_the_page_says_what_the_tables_say() -> None:
    assert node_table.PAGE.read_text(encoding="utf-8") == node_table.page(), (
        "write it anew: python -m tests.cntk.training.node_table"
    )


def test_every_type_has_its_line() -> None:
    lines = node_table.page().splitlines()
    named = {line.split(" | ")[0].removeprefix("| ") for line in lines if line.startswith("| ")}
    assert {*NODE_TYPES, *COLUMNS} <= named


def test_what_cannot_be_computed_is_not_said_to_be_exported() -> None:
    for line in node_table.page().splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if len(cells) == 7 and cells[3] == "":
            assert not any(cells[4:]), line
