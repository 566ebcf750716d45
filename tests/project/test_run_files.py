"""The run file and its data: the small reader of tables agrees with the engine's."""

from __future__ import annotations

import csv
import gzip
import io
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from netsharp_engine.data import DataError, ReadOptions, class_names, feature_count
from netsharp_lsp.context import Context
from netsharp_lsp.project.run_file import RunFile, run_file_beside, run_file_context
from netsharp_lsp.project.table import READ_THROUGH, Columns, count_table

LAW = settings(max_examples=60, deadline=None, derandomize=True)
IRIS = "length,width,kind\n5.1,3.5,setosa\n4.9,3.0,virginica\n6.2,3.4,versicolor\n5.0,3.1,setosa\n"


def write(path: Path, text: str) -> str:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text.encode())
    return str(path)


def beside(specification: Path) -> Context:
    run_file = run_file_beside(str(specification))
    assert isinstance(run_file, RunFile)
    return run_file_context(run_file)


CELLS = st.sampled_from(["1", "1.0", "-2.5", "3e4", "a", "NA", "?", "b, c", 'd "e"', "ü"])
NUMBERS = st.sampled_from(["0", "1", "-2.5", "3e4"])


@LAW
@given(st.lists(st.tuples(NUMBERS, NUMBERS, CELLS, CELLS), min_size=2, max_size=8), st.data())
def test_the_small_reader_agrees_with_the_engine(
    tmp_path_factory: pytest.TempPathFactory,
    rows: list[tuple[str, ...]],
    data: st.DataObject,
) -> None:
    word, delimiter = data.draw(
        st.sampled_from([("comma", ","), (";", ";"), ("tab", "\t"), ("pipe", "|"), (None, ",")])
    )
    line_end = data.draw(st.sampled_from(["\n", "\r\n"]))
    header = data.draw(st.booleans())
    names = ["one", "two", "colour", "kind"]
    text = io.StringIO()
    writer = csv.writer(text, delimiter=delimiter, lineterminator=line_end)
    writer.writerows([names, *rows] if header else rows)
    path = write(tmp_path_factory.mktemp("table") / "t.csv", text.getvalue())
    categorical, label = ("colour", data.draw(st.sampled_from(["kind", "Kind", "4"])))
    if not header:
        categorical, label = data.draw(st.sampled_from([("3", "4"), ("column3", "Column4")]))
    given = data.draw(st.sampled_from([header, None]))
    options = ReadOptions(label=label, categorical=(categorical,), header=given, delimiter=word)
    columns = Columns(label, categorical=[categorical], header=given, delimiter=word)
    counts = count_table(path, columns)
    assert counts is not None
    try:
        expected = (feature_count(path, options), len(class_names(path, options)))
    except DataError:
        return
    assert (counts.features, counts.classes) == expected


@pytest.mark.parametrize(
    ("text", "columns", "expected"),
    [
        (IRIS, Columns("kind"), (2, 3)),
        (IRIS, Columns("3"), (2, 3)),
        (IRIS, Columns("kind", apart=["width"]), (1, 3)),
        (IRIS, Columns("length", categorical=["kind"]), (5, 4)),
        (IRIS, Columns("length", categorical=["kind"], unknown_level=False), (4, 4)),
        (IRIS.replace("kind", "Label"), Columns(), (2, 3)),
        (IRIS.partition("\n")[2], Columns("3"), (2, 3)),
        (IRIS, Columns("nothing"), (6, None)),
        (IRIS, Columns("length"), (5, 4)),
        (",a,b\n1,5,x\n2,6,y\n", Columns("b"), (1, 2)),
        (",a,b\n1,5,x\n3,6,y\n", Columns("b"), (2, 2)),
        ("a,b\n1,5,x\n2,6,y\n", Columns("b", header=True), (1, 2)),
        ("a;b\n1,5;2,5\n3,5;2,5\n", Columns("b"), (1, 1)),
        ("1,5;2,5;x\n3,5;2,5;y\n", Columns("3"), (2, 2)),
        ("1,2\n3,4\n", Columns(), (2, None)),
        ("a;b\n1,5;2\n", Columns("b"), (1, 1)),
        ("\ufeffa,b\n1,2\n", Columns("a"), (1, 1)),
        ("a,b\n1,x\n1,NA\n1,\n", Columns("b"), (1, 2)),
        ("a,b\n1,1\n1,1.0\n1,2\n", Columns("b"), (1, 2)),
        ("a|b|c\n1|2|x\n1|3|y\n", Columns("C", delimiter="pipe"), (2, 2)),
    ],
)
def test_counts(
    tmp_path: Path, text: str, columns: Columns, expected: tuple[int | None, int | None]
) -> None:
    path = write(tmp_path / "t.csv", text)
    counts = count_table(path, columns)
    assert counts is not None
    assert (counts.features, counts.classes) == expected
    packed = tmp_path / "t.csv.gz"
    packed.write_bytes(gzip.compress(Path(path).read_bytes()))
    again = count_table(str(packed), columns)
    assert again is not None
    assert (again.features, again.classes) == expected


def test_what_is_no_table_is_unknown(tmp_path: Path) -> None:
    assert count_table(str(tmp_path / "missing.csv"), Columns()) is None
    assert count_table(write(tmp_path / "a.parquet", IRIS), Columns()) is None
    assert count_table(write(tmp_path / "empty.csv", ""), Columns()) is None
    (tmp_path / "latin.csv").write_bytes(b"a,b\n\xe9,1\n")
    assert count_table(str(tmp_path / "latin.csv"), Columns("a")) is None
    (tmp_path / "not.csv.gz").write_bytes(b"a,b\n")
    assert count_table(str(tmp_path / "not.csv.gz"), Columns()) is None


def test_a_large_table_is_not_read_through(tmp_path: Path) -> None:
    row = "1," * 200 + "x\n"
    path = write(tmp_path / "t.csv", row * (READ_THROUGH // len(row) + 2))
    counts = count_table(path, Columns("201"))
    assert counts is not None
    assert (counts.features, counts.classes) == (200, None)


def test_a_run_file_gives_task_host_and_counts(tmp_path: Path) -> None:
    write(tmp_path / "data" / "iris.csv", IRIS)
    write(
        tmp_path / "iris.toml",
        '[data]\ntrain = "data/iris.csv"\nlabel = "kind"\n'
        '[train]\nhost = "tlc"\nhidden_nodes = 7\n',
    )
    context = beside(tmp_path / "iris.nn")
    assert context.known() == {
        "features": 2,
        "hidden_nodes": 7,
        "outputs": 3,
        "task": "multiclass",
        "host": "tlc",
    }
    assert set(context.origin.values()) == {"iris.toml"}


@pytest.mark.parametrize(
    ("train", "known"),
    [
        ('task = "regression"', {"features": 2, "outputs": 1, "task": "regression"}),
        ('task = "binary"', {"features": 2, "task": "binary"}),
        ('task = "classification"', {"features": 2, "outputs": 3, "task": "multiclass"}),
        (
            "task = 3\nhost = []\nhidden_nodes = true",
            {"features": 2, "outputs": 3, "task": "multiclass"},
        ),
    ],
)
def test_the_task_decides_the_outputs(tmp_path: Path, train: str, known: dict[str, object]) -> None:
    write(tmp_path / "iris.csv", IRIS)
    write(tmp_path / "iris.toml", f'[data]\ntrain = "iris.csv"\nlabel = "kind"\n[train]\n{train}\n')
    assert beside(tmp_path / "iris.nn").known() == known


def test_two_classes_leave_the_outputs_to_the_host(tmp_path: Path) -> None:
    write(tmp_path / "a.csv", "x,label\n1,yes\n2,no\n")
    write(tmp_path / "a.toml", '[data]\ntrain = "a.csv"\n')
    assert beside(tmp_path / "a.nn").known() == {"features": 1, "task": "binary"}


def test_several_files_tell_columns_but_no_classes(tmp_path: Path) -> None:
    write(tmp_path / "a1.csv", IRIS)
    write(tmp_path / "a2.csv", IRIS)
    for train in ('"a?.csv"', '["a1.csv", "a2.csv"]'):
        write(tmp_path / "a.toml", f'[data]\ntrain = {train}\nlabel = "kind"\n')
        assert beside(tmp_path / "a.nn").known() == {"features": 2}


def test_levels_depend_on_the_training_rows(tmp_path: Path) -> None:
    write(tmp_path / "a.csv", IRIS)
    data = '[data]\ntrain = "a.csv"\nlabel = "length"\ncategorical = ["kind"]\n'
    write(tmp_path / "a.toml", data)
    assert beside(tmp_path / "a.nn").features == 5
    write(tmp_path / "a.toml", f"{data}[train]\nvalidation = 0.25\n")
    assert beside(tmp_path / "a.nn").features is None


def test_a_column_that_marks_validation_rows_is_no_feature(tmp_path: Path) -> None:
    write(tmp_path / "a.csv", "x,y,fold\n1,2,1\n3,4,0\n")
    data = '[data]\ntrain = "a.csv"\nlabel = "x"\n[train]\ntask = "regression"\n'
    write(tmp_path / "a.toml", f'{data}validation = "Fold"\n')
    assert beside(tmp_path / "a.nn").features == 1
    write(tmp_path / "a.toml", f'{data}validation = "held-out.csv"\n')
    assert beside(tmp_path / "a.nn").features == 2


def test_settings_files_are_no_run_files(tmp_path: Path) -> None:
    write(tmp_path / "netsharp.toml", "")
    write(tmp_path / "pyproject.toml", "")
    assert run_file_beside(str(tmp_path / "netsharp.nn")) is None
    assert run_file_beside(str(tmp_path / "pyproject.nn")) is None
    assert run_file_beside(str(tmp_path / "other.nn")) is None


def test_a_broken_run_file_is_a_sentence(tmp_path: Path) -> None:
    path = write(tmp_path / "a.toml", "[data\n")
    sentence = run_file_beside(str(tmp_path / "a.nn"))
    assert isinstance(sentence, str)
    assert sentence.startswith(f"{path}: is not valid TOML: ")


def test_a_run_file_nested_without_end_is_a_sentence(tmp_path: Path) -> None:
    path = write(tmp_path / "a.toml", f"data = {'[' * 5000}")
    sentence = run_file_beside(str(tmp_path / "a.nn"))
    assert isinstance(sentence, str)
    assert sentence.startswith(f"{path}: is not valid TOML: ")


def test_uncounted_a_run_file_says_only_what_is_in_it(tmp_path: Path) -> None:
    write(tmp_path / "a.csv", IRIS)
    write(tmp_path / "a.toml", '[data]\ntrain = "a.csv"\n[train]\nhidden_nodes = 7\n')
    run_file = run_file_beside(str(tmp_path / "a.nn"))
    assert isinstance(run_file, RunFile)
    assert run_file_context(run_file, lambda path, columns: None).known() == {"hidden_nodes": 7}
