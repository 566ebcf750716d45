"""The page about nodes says what the tables of the code say."""

from __future__ import annotations

from netsharp_engine.ops.tensors.shaping import COLUMNS
from netsharp_lsp.cntk.networks.node_types import MODEL_TYPES, NODE_TYPES
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
        if len(cells) == 8 and cells[3] == "":
            assert not any(cells[4:7]), line


def test_what_is_written_as_text_is_a_type_that_a_text_can_make() -> None:
    rows = [line.split("|")[1:-1] for line in node_table.page().splitlines() if line[:2] == "| "]
    reported = {cells[0].strip(): cells[7].strip() for cells in rows[1:]}
    assert reported["Times"] == reported["OptimizedRNNStack"] == "yes"
    assert {name for name, one in reported.items() if one} <= NODE_TYPES.keys()
    assert {reported[name] for name in MODEL_TYPES} == {""}
