"""Scripts that are broken, at each layer, or that only a run knows: one sentence, and no guess."""

from __future__ import annotations

from pathlib import Path

import pytest

from netsharp_lsp.__main__ import main
from netsharp_lsp.cli.inputs.files import Input
from netsharp_lsp.cli.inputs.scripts import read_script
from tests.costs import assert_in_proportion, assert_measured, spent

NET = "input X [4]; output Y [3] softmax from X all;"
#: A script with three layers; `{0}` to `{3}` end Net#'s statement, R's string and both of T-SQL.
LAYERS = (
    "SET @c = N'EXEC sp_execute_external_script N''R'', N''\n"
    'fit <- rxNeuralNet(y ~ ., netDefinition = "input X [4]; output Y [3] softmax from X all{0}{1})'
    "\n{2};\n{3};\nEXEC sp_executesql @c;\n"
)
#: The same with a call of Python.
LAYERS_OF_PYTHON = LAYERS.replace("N''R''", "N''Python''").replace(
    "fit <- rxNeuralNet(y ~ ., netDefinition =", 'fit = rx_neural_network("y ~ .", net_definition='
)
ENDS = [";", '"', "''", "'"]
SOUND = LAYERS.format(*ENDS)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "rows.csv").write_text("a,b,c,d,y\n" + "1,2,3,4,u\n2,3,4,5,v\n3,4,5,6,w\n" * 4)
    return tmp_path


def commands(name: str) -> list[tuple[str, ...]]:
    run = ("run", name, "--train", "rows.csv", "--label", "y", "--epochs", "1")
    return [("check", name), ("fmt", name), ("import", name, "--force"), run]


@pytest.mark.parametrize("layers", [LAYERS, LAYERS_OF_PYTHON], ids=["R", "Python"])
def test_the_sound_script_is_taken_by_all(layers: str, folder: Path) -> None:
    (folder / "a.sql").write_text(layers.format(*ENDS), encoding="utf-8")
    codes = [main([*command]) for command in commands("a.sql")]
    assert codes == [0, 0, 0, 2]  # the host's default task has two classes, the network three
    run = (*commands("a.sql")[-1], "--task", "multiclass")
    assert main([*run]) == 0


@pytest.mark.parametrize("layer", range(1, 4))
@pytest.mark.parametrize("layers", [LAYERS, LAYERS_OF_PYTHON], ids=["R", "Python"])
def test_a_string_that_is_not_closed_is_no_specification(
    layers: str, layer: int, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    ends = ["" if place == layer else end for place, end in enumerate(ENDS)]
    text = layers.format(*ends)
    (folder / "a.sql").write_text(text, encoding="utf-8")
    for command in commands("a.sql"):
        code = main([*command])
        output = capsys.readouterr()
        assert code in (0, 1, 2)
        assert "Traceback" not in output.out + output.err
        assert "internal error" not in (output.out + output.err).lower()
        if command[0] == "run":
            assert code == 2
            assert "a.sql" in output.err
    assert (folder / "a.sql").read_text(encoding="utf-8") == text
    assert not list(folder.glob("*.nn"))


def test_an_open_statement_is_reported_at_its_place(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "a.sql").write_text(LAYERS.format("", *ENDS[1:]), encoding="utf-8")
    assert main(["check", "a.sql", "--format", "concise"]) == 1
    assert "a.sql:2:" in capsys.readouterr().out


@pytest.mark.parametrize("at", range(0, len(SOUND), 9))
def test_an_odd_quote_anywhere_ends_in_no_fault_of_ours(at: int, folder: Path) -> None:
    text = SOUND[:at] + "'" + SOUND[at:]
    (folder / "a.sql").write_text(text, encoding="utf-8")
    assert all(main([*command]) in (0, 1, 2) for command in commands("a.sql"))


BUILT = {
    "a.R": 'n <- 3\nnet <- paste0("input X [", n, "]; output Y [1] from X all;")\n'
    "fit <- rxNeuralNet(y ~ ., netDefinition = sprintf(net, n))\n",
    "b.py": 'net = f"input X [{n}];"\nother = 1\n'
    'fit = rx_neural_network("y ~ .", net_definition=net)\n',
    "d.sql": "EXEC sp_execute_external_script N'Python', N'\n\n"
    'fit = rx_neural_network("y ~ .", net_definition="input X [\' + @n + N\'];")\';\n',
    "c.sql": "EXEC sp_execute_external_script N'R', N'\n\n"
    "fit <- rxNeuralNet(y ~ ., netDefinition = \"input X [' + @n + N'];\")';\n",
}


@pytest.mark.parametrize("name", BUILT)
def test_a_definition_that_a_run_builds_is_reported_and_not_guessed(
    name: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / name).write_text(BUILT[name], encoding="utf-8")
    main(["check", name])
    output = capsys.readouterr()
    assert "error" not in output.out
    assert main(["import", name]) == 1
    output = capsys.readouterr()
    assert f"{name}:3: fit is not written: its definition is not known." in output.out
    assert f"{name}:3: netDefinition: it is put together at run time." in output.out
    assert main(["run", f"{name}::fit", "--train", "rows.csv", "--label", "y"]) == 2
    assert f"{name}:3: netDefinition: it is put together at run time." in capsys.readouterr().err
    assert not list(folder.glob("*.nn"))


def test_a_number_of_nodes_that_only_a_run_knows(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "a.R").write_text("fit <- rxNeuralNet(y ~ .,\n  numHiddenNodes = 2 * n)")
    assert main(["run", "a.R", "--train", "rows.csv"]) == 2
    assert "a.R:2: numHiddenNodes: 2 * n is known only at run time." in capsys.readouterr().err


def test_no_definition_is_read_outside(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    inside = folder / "inside"
    inside.mkdir()
    (folder / "x.nn").write_text(NET, encoding="utf-8")
    call = 'fit <- rxNeuralNet(y ~ ., type = "multi", netDefinition = readLines("../x.nn"))'
    (inside / "a.R").write_text(call, encoding="utf-8")
    message = "x.nn is not there, or outside the folders that are read (--root)."
    assert main(["import", "inside/a.R"]) == 1
    assert message in capsys.readouterr().out
    run = ("run", "inside/a.R", "--train", "rows.csv", "--epochs", "1")
    assert main([*run]) == 2
    assert message in capsys.readouterr().err
    assert main(["import", "inside/a.R", "--root", str(folder)]) == 0
    assert main([*run, "--root", str(folder)]) == 0


def test_broken_python_beside_a_sound_cell(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    cells = ['rx_neural_network("y ~ .", num_iterations=', 'fit = rx_neural_network("y ~ .")']
    (folder / "a.Rmd").write_text("".join(f"```{{python}}\n{cell}\n```\n" for cell in cells))
    assert main(["import", "a.Rmd"]) == 1
    output = capsys.readouterr()
    assert "a.Rmd:2: is not valid Python; fix it first." in output.err
    assert (folder / "fit.nn").exists()


STATEMENTS = (
    "INSERT INTO [dbo].[t] (a, b, [c d]) VALUES (1, 'abc''d', N'x y z', 3.5e3); -- it's why\n"
    '/* it\'s */ SELECT a, "b" FROM dbo.t WHERE x = 3 AND yyyy = zzzz;\nGO\n'
)


@pytest.mark.costly
def test_five_megabytes_of_sql_are_imported_within_a_second() -> None:
    data = (STATEMENTS * (5_000_000 // len(STATEMENTS)) + SOUND).encode()
    item = Input("a.sql", None)
    script = read_script(item, data)
    assert not isinstance(script, str)
    assert len(script.calls) == 1
    assert_measured(lambda: spent(read_script, item, data), lambda cost: cost < 1)


GROWING = {
    "a.R": [
        "f{0} <- rxNeuralNet(y ~ a + b, data = d, optimizer = sgd(0.1))\n",
        "d$c{0} <- factor(d$c{0})\n",
        "x{0} <- list(a = c(1, 2), b = paste0('a', 'b'))\n",
        "g{0} <- function(a, b = 2) {{ if (a > b) d$c <<- 3 else b[1] <- 2 }}\n",
        "d <- subset(d, c{0} > 3)\n",
    ],
    "b.py": [
        'f{0} = rx_neural_network("y ~ a + b", data=d, optimizer=sgd_optimizer(0.1))\n',
        'd["c{0}"] = d["c{0}"].astype("category")\n',
        "d = d.dropna()\n",
        "def g{0}(a, b=2):\n    d.pop(a)\n    return [a for a in b]\n",
    ],
}
LAST = {"a.R": "fit <- rxNeuralNet(y ~ ., data = d)", "b.py": 'rx_neural_network("y ~ .", data=d)'}


@pytest.mark.parametrize(
    ("name", "line"), [(name, one) for name in GROWING for one in GROWING[name]]
)
def test_cost_grows_with_the_script(name: str, line: str) -> None:
    def prepared(copies: int):  # type: ignore[no-untyped-def]
        text = "".join(line.format(number) for number in range(copies))
        data = f"{text}{LAST[name]}\n".encode()
        return lambda: read_script(Input(name, None), data)

    assert_in_proportion(prepared, 100, 400)
