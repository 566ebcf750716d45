"""Scripts of T-SQL answer as the engine does: the query runs in DuckDB through sqlglot, where only
the table that rows come from has another name.
"""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import netsharp
from netsharp_engine.activations import NAMES
from netsharp_engine.data.normalizers import NAMES as NORMALIZERS
from netsharp_engine.exporting.differences import BOUND
from netsharp_engine.exporting.refusal import ExportError
from netsharp_engine.exporting.tsql import network
from netsharp_engine.exporting.tsql.comparing import Database
from netsharp_engine.exporting.tsql.network import steps_of
from netsharp_engine.exporting.tsql.script import TsqlScript, scripted
from netsharp_engine.exporting.tsql.words import distinct_names, number
from netsharp_engine.exporting.tsql.written import WrittenTsql, write_tsql
from netsharp_engine.model import Model
from tests.cli.command_line import netsharp as command
from tests.conftest import SEED
from tests.costs import assert_in_proportion, within
from tests.exporting.tables import rows_of_texts

pytest.importorskip("duckdb", reason="DuckDB is in the dependency group 'test'")
sqlglot = pytest.importorskip("sqlglot", reason="sqlglot is in the dependency group 'test'")
exp = sqlglot.exp

pytestmark = pytest.mark.filterwarnings("ignore:On training rows")
#: Functions that SQL Server 2016 has [Microsoft: What are the SQL database functions?], by names of
#: sqlglot's nodes; LOG of one argument is Ln in some versions.
_FUNCTIONS = {"Abs", "Case", "Cast", "Coalesce", "Concat", "Exp", "Ln", "Log", "Max", "Pow"}
_FUNCTIONS |= {"RowNumber", "Sqrt", "Sum", "And", "Or", "If", "Chr"}
#: Networks that have every operation of layers.
NETWORKS = {
    "full": "input X auto; hidden H [7] sigmoid from X all; output Y auto from H all;",
    "joined": (
        "input X auto; hidden A [5] tanh from X all; hidden B [4] rlinear from X all;"
        "hidden C [6] { from A all; from B all; from X all; }"
        "output Y auto { from C all; from A all; }"
    ),
    "twice": "input X auto; hidden H [4] from X all; output Y auto { from H all; from H all; }",
    "filtered": (
        "input X [6, 6]; hidden H [6, 6] rlinear from X where (s, d) => s[0] == d[0];"
        "output Y auto from H all;"
    ),
    "convolved": (
        "input X [6, 6]; hidden C [3, 5, 3] rlinear from X convolve {"
        " InputShape = [6, 6]; KernelShape = [3, 3]; Stride = [1, 2];"
        " LowerPad = [0, 1]; UpperPad = [1, 0]; MapCount = 3; }"
        "output Y auto from C all;"
    ),
    "pooled": (
        "input X [6, 6]; hidden C [4, 6, 6] tanh from X convolve {"
        " InputShape = [6, 6]; KernelShape = [3, 3]; Padding = true; MapCount = 4; }"
        "hidden P [4, 3, 3] from C max pool {"
        " InputShape = [4, 6, 6]; KernelShape = [1, 2, 2]; Stride = [1, 2, 2]; }"
        "hidden M [4, 2, 2] from P mean pool {"
        " InputShape = [4, 3, 3]; KernelShape = [1, 2, 2]; }"
        "output Y auto { from M all; from P all; }"
    ),
    "normalised": (
        "input X [6, 6]; hidden R [6, 6] from X response norm {"
        " InputShape = [6, 6]; KernelShape = [3, 3]; Padding = true; Alpha = 0.3; Beta = 0.75; }"
        "hidden H [4] softmax from R all; output Y auto { from H all; from R all; }"
    ),
    "unshared": (
        "input X [6, 6]; hidden C [2, 2] from X convolve {"
        " InputShape = [6, 6]; KernelShape = [3, 3]; Stride = [3, 3]; Sharing = false; }"
        "output Y auto from C all;"
    ),
}
_FIXED = "input X [36]; hidden H [5] {} from X all; output Y auto from H all;"


def trained(text: str, task: str, **settings: Any) -> Model:
    """Train a network for a moment on numbers: 36 features, three classes, two or a number."""
    random = np.random.default_rng(SEED)
    x = random.normal(2, 3, size=(60, 36))
    answers: Any = 1e3 * x[:, 0] + 5e3
    if task != "regression":
        classes = np.array(["no", "yes", "maybe"][: 2 if task == "binary" else 3])
        answers = classes[random.integers(len(classes), size=60)]
    return netsharp.train(text, x, answers, task=task, epochs=1, **settings)


def close(model: Model, name: str = "scored") -> WrittenTsql:
    """Export a model; the export itself compares, and is looked at for having done so."""
    written = write_tsql(model, name)
    assert written.differences is not None
    assert all(one.relative <= BOUND for one in written.differences)
    require_plain(scripted(model, name))
    return written


def require_plain(script: TsqlScript) -> None:
    """Look at a script for what SQL Server 2016 does not know, or stops at."""
    assert re.search(r"TANH|GREATEST|LEAST\b|float\b", script.text, re.IGNORECASE) is None
    tree = sqlglot.parse_one(script.query, read="tsql")
    functions = {type(one).__name__ for one in tree.find_all(exp.Func)}
    assert functions <= _FUNCTIONS, functions - _FUNCTIONS
    for one in tree.find_all(exp.Exp):
        bounds = [str(end).rstrip("E0.") for end in one.find_all(exp.Literal)]
        assert isinstance(one.this, exp.Case)
        assert bounds.count("7") >= 4, one.sql()
    for one in tree.find_all(exp.Values):
        assert len(one.expressions) <= 1000
    for table in script.tables:
        inserts = list(table.inserts())
        assert all(one.count("\n") <= 1000 for one in inserts)
        values = sqlglot.parse_one(inserts[-1], read="tsql").find(exp.Values)
        assert len(values.expressions) == inserts[-1].count("\n")
    read = Counter(one.name for one in tree.find_all(exp.Table))
    made = {one.alias for one in tree.find_all(exp.CTE)} - {"cells"}
    assert {read[one] for one in made} == {1}, read
    assert tree.find(exp.Lateral) is None
    (made_function,) = re.findall(r"CREATE FUNCTION (.*)\n(.*)\n", script.text)
    assert "READONLY" in made_function[0]
    assert made_function[1] == "RETURNS TABLE WITH SCHEMABINDING AS RETURN ("


@pytest.mark.drawn
@pytest.mark.parametrize("task", ["binary", "multiclass", "regression"])
@pytest.mark.parametrize("name", NETWORKS)
def test_networks(name: str, task: str) -> None:
    close(trained(NETWORKS[name], task))


@pytest.mark.drawn
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("function", NAMES)
def test_every_activation_within_and_at_the_end(function: str, dtype: str) -> None:
    close(trained(_FIXED.format(function), "multiclass", dtype=dtype))
    ended = f"input X [36]; output Y [3] {function} from X all;"
    close(trained(ended, "multiclass", dtype=dtype))


@pytest.mark.parametrize("function", [one for one in NAMES if one != "softmax"])
def test_a_single_answer_of_every_activation(function: str) -> None:
    close(trained(f"input X [36]; output Y [1] {function} from X all;", "binary"))


@pytest.mark.costly
@pytest.mark.parametrize("normalizer", NORMALIZERS)
def test_every_normalizer(normalizer: str) -> None:
    close(trained(_FIXED.format("tanh"), "multiclass", normalizer=normalizer))


def test_sums_of_any_size_stop_nothing() -> None:
    model = trained(_FIXED.format("sigmoid"), "multiclass", normalizer="none")
    for one in model.tensors.values():
        one *= 1e6
    database = Database(scripted(model, "large"))
    rows = np.random.default_rng(SEED).normal(0, 1e6, (20, 36)).astype(np.float32)
    found = database(rows.tolist())
    ours = model.answered(model.compute(rows))
    assert ours.probabilities is not None
    theirs = np.array([row[1:] for row in found], float)
    np.testing.assert_allclose(theirs, ours.probabilities, atol=1e-5)


def test_texts_gaps_and_several_answers(tmp_path: Path) -> None:
    lines, names = rows_of_texts(np.random.default_rng(SEED), 80)
    text = "\n".join(",".join(map(str, line)) for line in [names, *lines])
    (tmp_path / "rows.csv").write_text(text + "\n")
    network = "input X auto; hidden H [4] tanh from X all; output Y auto from H all;"
    for missing in ("mean", "zero", "indicator", "drop"):
        model = netsharp.train(
            network, train=str(tmp_path / "rows.csv"), label="label", epochs=1, missing=missing
        )
        close(model)
        database = Database(scripted(model, "gaps"))
        (whole, gap, unseen) = database([[20.0, "red", 1.0], [20.0, "red", None], [1, "Red ", 0]])
        assert whole[0] in ("high", "low")
        assert (gap[0] is None) == (missing == "drop")
        # Texts that differ in case or in trailing blanks are different levels.
        assert unseen[0] in ("high", "low")
        known, red = database([[1, "none of them", 0], [1, "red", 0]])
        # A database adds in any order.
        np.testing.assert_allclose(unseen[1:], known[1:], rtol=1e-13)
        assert abs(unseen[1] - red[1]) > 1e-4


def test_what_stands_for_a_missing_number_lies_on_the_edge_of_its_bin(tmp_path: Path) -> None:
    """The mean is not representable in float32, and both numbers beside it are seen."""
    numbers = [0.1, 0.2, 0.3, 0.7, 0.1 + 0.2, 0.4]
    lines = [f"{numbers[n % 6]},{n % 5},{'ab'[n % 2]}" for n in range(60)] + [",1,a"] * 6
    (tmp_path / "rows.csv").write_text("\n".join(["x,y,label", *lines]) + "\n")
    model = netsharp.train(
        "input X auto; output Y auto from X all;",
        train=str(tmp_path / "rows.csv"),
        label="label",
        missing="mean",
        normalizer="binning",
        epochs=1,
    )
    fill = model.encoding.columns[0].fill
    assert fill is not None
    script = scripted(model, "edge")
    assert f"{float(np.float32(fill))!r}E0" in "\n".join(script.tables[0].rows)
    close(model)


def test_several_numbers() -> None:
    random = np.random.default_rng(SEED)
    x = random.normal(size=(60, 3))
    y = np.stack([1e4 * x.sum(1) + 5e4, x[:, 0] - x[:, 2]], 1)
    text = "input X [3]; hidden H [4] from X all; output Y [2] linear from H all;"
    written = close(netsharp.train(text, x, y, task="regression", epochs=2))
    assert written.outputs == ("predicted_1", "predicted_2")


def test_hostile_names_are_texts(tmp_path: Path) -> None:
    hostile = ["'; DROP TABLE x; --", "a\\\nb", "x\nGO\ny", "Ünïcode 名", "[it]", "", "  "]
    rows = [[str(n % 7), hostile[n % 7], "yes" if n % 2 else "x\r\nGO"] for n in range(70)]
    names = ["row_id", 'a"b]\\\nc', "kind"]
    cells = [[cell.replace('"', '""') for cell in row] for row in [names, *rows]]
    text = "\n".join(",".join(f'"{cell}"' for cell in row) for row in cells)
    (tmp_path / "rows.csv").write_text(text + "\n", encoding="utf-8")
    model = netsharp.train(
        "input X auto; hidden H [3] tanh from X all; output Y auto from H all;",
        train=str(tmp_path / "rows.csv"),
        label="kind",
        categorical=[names[1]],
        epochs=1,
    )
    written = close(model, "a]b\n")
    assert written.data.startswith(b"\xef\xbb\xbf")
    shown = written.data.decode("utf-8-sig")
    assert "'; DROP" not in shown.replace("'''; DROP", "")
    batches = re.split(r"(?m)^GO$", shown)
    assert all(one.count("'") % 2 == 0 for one in batches)
    assert len(batches) == 6
    assert sorted(set(re.findall(r"\[row_id[^]]*\]", shown))) == ["[row_id]", "[row_id_2]"]


@pytest.mark.parametrize(
    ("names", "found"),
    [
        (["a", "A", "a"], ["a", "A_2", "a_3"]),
        (["a_2", "a", "A"], ["a_2", "a", "A_3"]),
        (["", "\n"], ["column", "column_2"]),
        (["x" * 200, "x" * 129], ["x" * 128, "x" * 126 + "_2"]),
        (["\U0001f600" * 70], ["\U0001f600" * 64]),
    ],
)
def test_names_that_a_server_tells_apart(names: list[str], found: list[str]) -> None:
    assert distinct_names(names) == found


@pytest.mark.parametrize(
    ("count", "message"),
    [
        (1024, r"reads 1,024 columns; .* 1,024 at most.*--to onnx"),
        # 4 + 2 + 2 bytes, 125 for which of 992 are NULL, and 8 for each.
        (991, r"991 columns of numbers and 0 of texts.*takes 8,068 bytes.* has 8,060.*--to onnx"),
    ],
)
def test_many_columns_are_refused_with_the_way_out(count: int, message: str) -> None:
    random = np.random.default_rng(SEED)
    x = random.normal(size=(8, count))
    text = "input X auto; output Y auto from X all;"
    model = netsharp.train(text, x, ["a", "b"] * 4, epochs=1)
    with pytest.raises(ExportError, match=message):
        write_tsql(model, "wide")


@pytest.mark.costly
@pytest.mark.parametrize("normalizer", ["gaussian", "binning"])
def test_as_many_columns_as_a_row_holds(normalizer: str) -> None:
    random = np.random.default_rng(SEED)
    x = random.normal(size=(300, 990))
    text = "input X auto; output Y auto from X all;"
    answers = np.array(["a", "b"] * 150)
    close(netsharp.train(text, x, answers, epochs=1, normalizer=normalizer, bins=40))


def test_many_answers_are_refused_with_the_way_out() -> None:
    x = np.random.default_rng(SEED).normal(size=(8, 2))
    y = np.zeros((8, 990))
    text = "input X [2]; output Y [990] linear from X all;"
    model = netsharp.train(text, x, y, task="regression", epochs=1)
    with pytest.raises(ExportError, match=r"answers with 990 numbers;.*takes 8,068 bytes"):
        write_tsql(model, "wide")


def _of_levels(folder: Path, levels: int) -> Model:
    rows = [f"level {n % levels},{n % 7},{'ab'[n % 2]}" for n in range(3 * levels)]
    (folder / "rows.csv").write_text("\n".join(["text,number,label", *rows]) + "\n")
    network = "input X auto; output Y auto from X all;"
    path = str(folder / "rows.csv")
    return netsharp.train(network, train=path, label="label", categorical=["text"], epochs=1)


def test_the_query_is_as_long_for_many_levels_as_for_few(tmp_path: Path) -> None:
    models = [_of_levels(tmp_path, count) for count in (20, 800)]
    few, many = (scripted(one, "levels") for one in models)
    assert re.sub(r"\d", "", few.query) == re.sub(r"\d", "", many.query)
    close(models[1])


@pytest.mark.costly
def test_cost_grows_with_levels(tmp_path: Path) -> None:
    models = {count: _of_levels(tmp_path, count) for count in (300, 2_400)}
    assert_in_proportion(lambda count: lambda: scripted(models[count], "a"), 300, 2_400)


def test_a_level_is_as_long_as_a_column_holds(tmp_path: Path) -> None:
    found = []
    for length in (3_999, 4_000):
        rows = [f"{'xy'[n % 2] * length},{n},{'ab'[n % 2]}" for n in range(20)]
        (tmp_path / "rows.csv").write_text("\n".join(["text,number,label", *rows]) + "\n")
        path = str(tmp_path / "rows.csv")
        network = "input X auto; output Y auto from X all;"
        found.append(
            netsharp.train(network, train=path, label="label", categorical=["text"], epochs=1)
        )
    close(found[0])
    with pytest.raises(ExportError, match=r"'text' has a level of 4,000 characters, 'xxx"):
        write_tsql(found[1], "long")


def test_many_rows_are_given_at_once() -> None:
    model = trained(NETWORKS["full"], "binary")
    database = Database(scripted(model, "many"))
    rows = np.random.default_rng(SEED).normal(size=(4_000, 36)).tolist()
    within(4, lambda: database(rows))
    assert database([]) == []


def test_numbers_that_a_server_takes_for_none_are_zero() -> None:
    assert [number(one) for one in (5e-324, -1e-310, 0.0, None)] == ["0.0E0"] * 3 + ["NULL"]
    assert number(2.2250738585072014e-308) == "2.2250738585072014e-308"


def test_nothing_that_is_made_is_gone_with_the_connection() -> None:
    model = trained(NETWORKS["full"], "binary")
    assert "[dbo].[t_rows]" in scripted(model, "##t").text
    assert "[dbo].[model_rows]" in scripted(model, "#").text


def test_more_weights_than_a_script_holds(monkeypatch: pytest.MonkeyPatch) -> None:
    model = trained(NETWORKS["pooled"], "multiclass")
    monkeypatch.setattr(network, "MOST_ROWS", 36 * 4 * 10 - 1)
    with pytest.raises(
        ExportError,
        match=r"'C/X' has 1,440 weights of its own.*1,440, and 36 rows of f.*the 1,439 rows",
    ):
        write_tsql(model, "large")
    monkeypatch.setattr(network, "MOST_ROWS", 36 + 36 * 4 * 10 + 100)
    with pytest.raises(
        ExportError, match=r"'max pool' has 180 weights of its own.* network has 1,620"
    ):
        write_tsql(model, "large")


def test_every_identifier_of_a_long_name_is_short_enough() -> None:
    script = scripted(trained(NETWORKS["full"], "binary"), "\U0001f600" * 90)
    names = set(re.findall(r"\[dbo\]\.\[([^]]+)\]", script.text))
    assert len(names) == 5
    assert all(len(name.encode("utf-16-le")) <= 256 for name in names)


def test_numbers_that_are_none_are_refused() -> None:
    model = trained(NETWORKS["full"], "binary")
    next(iter(model.tensors.values()))[0] = np.nan
    with pytest.raises(ExportError, match=r"no numbers.*diverged"):
        write_tsql(model, "diverged")


def test_steps_carry_what_is_read_later_and_no_more() -> None:
    model = trained(NETWORKS["joined"], "multiclass")
    output = model.graph.output
    assert output is not None
    found = steps_of(model.graph, model.tensors, output)
    layers = [[one.name for one in step.layers] for step in found.steps]
    assert layers == [["A", "B"], ["C"], ["Y"]]
    first, second, third = (set(step.destinations.tolist()) for step in found.steps)
    inputs, a, b = range(1, 37), range(37, 42), range(42, 46)
    assert first == {0, *inputs, *a, *b}
    assert second == {0, *a, *range(46, 52)}
    assert third == {0, *range(52, 55)}


def test_the_command(tmp_path: Path) -> None:
    netsharp.save(trained(NETWORKS["full"], "multiclass"), str(tmp_path / "net.safetensors"))
    answer = command("export", "net.safetensors", "--to", "tsql", cwd=tmp_path)
    assert (answer.code, answer.err) == (0, "")
    first, inputs, outputs, last = answer.out.splitlines()
    assert re.fullmatch(r"net\.sql: \d+ weights", first)
    assert inputs.startswith("  inputs: [column1], [column2]")
    assert outputs == "  outputs: predicted, probability_maybe, probability_no, probability_yes"
    assert "  probabilities in DuckDB, on random samples: at most" in last
    text = (tmp_path / "net.sql").read_text()
    assert "CREATE FUNCTION [dbo].[net] (@rows [dbo].[net_rows] READONLY)" in text
    rows = np.random.default_rng(SEED).normal(size=(5, 36))
    np.savetxt(tmp_path / "rows.csv", rows, delimiter=",", header=",".join("abc" * 12))
    np.savetxt(tmp_path / "rows.csv", rows, delimiter=",")
    on_data = ("export", "net.safetensors", "--to", "tsql", "b.sql", "--verify", "rows.csv")
    answer = command(*on_data, cwd=tmp_path)
    assert answer.code == 0, answer.err
    assert "on rows.csv: at most" in answer.out
