"""Tables of networks with groups of nodes folded: nothing is lost, nothing counted twice."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from netsharp_lsp.description.folding import folded_rows
from netsharp_lsp.description.nodes import as_layers
from tests.cli.command_line import netsharp
from tests.cntk.texts import CORPUS
from tests.cntk.training.test_model_dictionaries import layered

NETWORKS = ("networks/resnet20.cntk", "networks/language_model.bs", "networks/inception.bs")


def subject(name: str, folder: Path) -> Path:
    if name != "dictionary":
        return CORPUS / name
    out, _, root = layered(2)
    (folder / "blocks.cmf").write_bytes(out.data(root))
    return folder / "blocks.cmf"


@pytest.mark.parametrize("name", [*NETWORKS, "dictionary"])
def test_rows_hold_all_that_nodes_do(name: str, tmp_path: Path) -> None:
    path = subject(name, tmp_path)
    answer = netsharp("describe", str(path), "--format", "json", cwd=tmp_path)
    assert answer.code == 0, answer.err
    described = json.loads(answer.out)
    whole = {**described, "layers": as_layers(described)}
    nodes = {one["name"] for one in described["nodes"]}
    counts = []
    for depth in (0, 1, 2, 50):
        rows = folded_rows(whole, depth)
        names = [row["name"] for row in rows]
        counts.append(len(rows))
        for total in ("parameters", "multiply_adds"):
            counted = [row[total] for row in rows if total != "parameters" or row["trainable"]]
            assert None in counted or sum(counted) == described[total]
        inside = sum(row.get("inside", 0) for row in rows)
        assert inside + sum("inside" not in row for row in rows) == len(nodes)
        assert {source for row in rows for source in row["inputs"]} <= set(names)
        groups = {group for row in rows for group in row["groups"]}
        assert groups == {group for node in described["nodes"] for group in node["groups"]}
    assert counts == sorted(counts)
    assert counts[0] < counts[-1] or not described["calls"]
    assert [row["name"] for row in folded_rows(whole, 50)] == [
        node["name"] for node in described["nodes"]
    ]


def test_the_command_folds_text_and_markdown(tmp_path: Path) -> None:
    path = subject("dictionary", tmp_path)
    for form in ("text", "markdown"):
        done = netsharp("describe", str(path), "--depth", "0", "--format", form, cwd=tmp_path)
        assert done.code == 0, done.err
        whole = netsharp("describe", str(path), "--format", form, cwd=tmp_path)
        assert len(done.out.splitlines()) < len(whole.out.splitlines())
        assert " nodes" in done.out
        # Totals are those of the network, whatever is folded.
        assert done.out.splitlines()[-4:] == whole.out.splitlines()[-4:]
