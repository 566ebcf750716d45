"""Where numbers come from: flags first, then --data, read as training reads it."""

from __future__ import annotations

import argparse
from pathlib import Path

from netsharp_lsp.cli.arguments.context import data_context, flag_context
from netsharp_lsp.context import Context
from netsharp_lsp.project.run_file import RunFile

IRIS = "length,width,kind\n5.1,3.5,setosa\n4.9,3.0,virginica\n6.2,3.4,versicolor\n5.0,3.1,setosa\n"


def test_data_is_read_as_training_reads_it(tmp_path: Path) -> None:
    path = str(tmp_path / "iris.csv")
    Path(path).write_text(IRIS)
    context = data_context(path, "kind", None, None)
    assert isinstance(context, Context)
    assert context.known() == {"features": 2, "outputs": 3, "task": "multiclass"}
    assert context.origin["features"] == "iris.csv"
    run_file = RunFile("x.toml", {"label": "kind", "exclude": ["width"]}, {})
    excluded = data_context(path, None, run_file, "binary")
    assert isinstance(excluded, Context)
    assert excluded.known() == {"features": 1, "task": "binary"}
    levels = {"label": "length", "categorical": ["kind"], "unknown_level": False}
    known_levels = data_context(path, None, RunFile("x.toml", levels, {}), "regression")
    assert isinstance(known_levels, Context)
    assert known_levels.features == 4
    missing = data_context(str(tmp_path / "no.csv"), None, None, None)
    assert isinstance(missing, str)
    assert "no.csv" in missing


def test_flags_win_over_what_comes_after(tmp_path: Path) -> None:
    args = argparse.Namespace(features=9, hidden_nodes=None, outputs=None, task=None, host="rx")
    merged = flag_context(args).or_else(Context(features=2, outputs=3, origin={"outputs": "a.csv"}))
    assert merged.known() == {"features": 9, "outputs": 3, "host": "rx"}
    assert merged.origin == {"features": "--features", "host": "--host", "outputs": "a.csv"}
