"""What describe, diff, evaluate and the run log write is what their schemas say."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

from tests.cli.command_line import netsharp
from tests.cli.test_schemas import schema

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


def test_diff_of_every_kind(tmp_path: Path) -> None:
    before = (EXAMPLES / "siamese" / "siamese.nn").read_text()
    after = before.replace("Data1", "Left").replace("share { H1, H2 }", "")
    after = after.replace("HiddenSize = 50", "HiddenSize = 40").replace("from H2 all;", "", 1)
    (tmp_path / "a.nn").write_text(before)
    (tmp_path / "b.nn").write_text(after)
    answer = netsharp("diff", "--format", "json", "a.nn", "b.nn", cwd=tmp_path)
    assert answer.code == 1, answer.err
    document = json.loads(answer.out)
    schema("diff.json").validate(document)
    assert {each["change"] for each in document["differences"]} >= {"removed", "changed", "renamed"}
    same = netsharp("diff", "--format", "json", "a.nn", "a.nn", cwd=tmp_path)
    assert same.code == 0
    schema("diff.json").validate(json.loads(same.out))


def test_describe_evaluate_and_run_log(tmp_path: Path) -> None:
    for name in ("iris", "diabetes"):
        folder = tmp_path / name
        shutil.copytree(EXAMPLES / name, folder)
        output = netsharp("describe", "--format", "json", f"{name}.nn", cwd=folder)
        schema("describe.json").validate(json.loads(output.out))
        arguments = ("--epochs", "3", "--log", "run.jsonl", "--model", "m.safetensors")
        assert netsharp("run", f"{name}.nn", *arguments, cwd=folder).code == 0
        lines = [json.loads(line) for line in (folder / "run.jsonl").read_text().splitlines()]
        for line in lines:
            schema("run-log.json").validate(line)
        assert [line["event"] for line in lines if line["event"] != "step"] == [
            "start",
            *["epoch"] * 3,
            "end",
        ]
        data = f"{name}.csv"
        figures = netsharp(
            "evaluate", "--format", "json", "m.safetensors", "--data", data, cwd=folder
        )
        assert figures.code == 0, figures.err
        schema("evaluate.json").validate(json.loads(figures.out))
