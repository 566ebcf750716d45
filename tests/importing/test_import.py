"""`netsharp import`: calls of scripts as specifications and run files, and what is not carried."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from netsharp_engine.train.settings import TrainingSettings, read_settings
from netsharp_lsp.__main__ import main

NET = "input X [3];\noutput Y [1] linear from X all;\n"
R = """
net <- paste0("input X [3];\\n", "output Y [1] linear from X all;\\n")
fit <- rxNeuralNet(y ~ a + log(b), data = d, type = "regression", netDefinition = net,
   optimizer = sgd(learningRate = 0.2, momentum = 0.9, nag = TRUE), numIterations = 20L,
   normalize = "no", rowSelection = a > 3, acceleration = "sse")
m <- rxNeuralNet(formula = as.formula(paste("y ~", ".")), netDefinition = readLines("x.nn"))
rxEnsemble(y ~ ., data = d, trainers = list(neuralNet(numHiddenNodes = 9)))
k <- mxNeuralNet(y ~ ., netDefinition = makeNet(3), optimizer = adaDeltaSgd(decay = 0.9))
"""
PYTHON = f'''
%matplotlib inline
from microsoftml import rx_neural_network, adadelta_optimizer
net = """{NET}"""
model = rx_neural_network("y ~ .", method="multiClass", optimizer=adadelta_optimizer(decay=0.8),
    net_definition=net.strip(), num_iterations=3, normalize="Warn")
'''


def written(folder: Path, script: str, text: str, *flags: str) -> int:
    (folder / script).write_text(text, encoding="utf-8")
    return main(["import", str(folder / script), *flags])


def settings(path: Path) -> TrainingSettings:
    read = read_settings(tomllib.loads(path.read_text(encoding="utf-8")))
    assert isinstance(read, TrainingSettings), read
    return read


def test_calls_of_r(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "x.nn").write_text(NET, encoding="utf-8")
    assert written(tmp_path, "a.R", R) == 1
    assert (tmp_path / "fit.nn").read_text(encoding="utf-8") == NET
    assert (tmp_path / "m.nn").read_text(encoding="utf-8") == NET
    fit, hidden = settings(tmp_path / "fit.toml"), settings(tmp_path / "a_3.toml")
    assert (fit.label, fit.task, fit.epochs, fit.learning_rate) == ("y", "regression", 20, 0.2)
    assert (fit.momentum, fit.nesterov, fit.normalizer, fit.host) == (0.9, True, "none", "rx")
    assert (hidden.hidden_nodes, hidden.task, hidden.normalizer) == (9, "binary", "minmax-zero")
    assert "learning_rate = 0.001  # the host's default" in (tmp_path / "m.toml").read_text()
    assert not (tmp_path / "k.nn").exists()
    assert main(["check", str(tmp_path / "a_3.nn")]) == 0
    output = capsys.readouterr().out.replace(f"{tmp_path}/", "")
    for sentence in (
        "a.R:5: rowSelection: a > 3 is not carried over.",
        "a.R:3: formula: 'log(b)' is not a column: compute it beforehand.",
        "a.R:3: data: export d to the table of 'train'.",
        "a.R:7: rxEnsemble: one model is trained here, not an ensemble.",
        "a.R:8: k is not written: its definition is not known.",
        "a.R:8: netDefinition: it is put together at run time.",
    ):
        assert sentence in output.splitlines()
    assert "acceleration" not in output


def test_calls_of_python_and_through_three_layers(tmp_path: Path) -> None:
    assert written(tmp_path, "a.py", PYTHON) == 0
    model = settings(tmp_path / "model.toml")
    assert (model.optimizer, model.adadelta_decay, model.epochs) == ("adadelta", 0.8, 3)
    assert (model.task, model.normalizer) == ("multiclass", "none")
    assert (tmp_path / "model.nn").read_text(encoding="utf-8") == NET
    inner = "fit <- rxNeuralNet(y ~ ., type = ''''regression'''', numIterations = '' + @n + '')"
    text = f"SET @s = N'EXEC sp_execute_external_script N''R'', N''\n{inner}''';"
    assert written(tmp_path, "b.sql", text.replace("'' + @n + ''", "7")) == 0
    assert settings(tmp_path / "fit.toml").epochs == 7
    text = "EXEC sp_execute_external_script N'R', N'f <- rxNeuralNet(y ~ ., numIterations = '"
    assert written(tmp_path, "c.sql", f"DECLARE @s nvarchar(9); {text} + @n + N')'") == 1
    assert "epochs" not in (tmp_path / "f.toml").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("a.R", "x <- 1", "holds no call that trains a network"),
        ("a.py", "rx_neural_network(", "a.py:1: is not valid Python"),
        ("a.txt", "", "is not a script of"),
        ("a.sql", "SET @c = N'rxNeuralNet(y ~ .)", "holds no call that trains a network"),
    ],
)
def test_bad_scripts(
    name: str, text: str, message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert written(tmp_path, name, text) == 2
    assert message in capsys.readouterr().err
    assert [one.name for one in tmp_path.iterdir()] == [name]


def test_nothing_is_replaced_without_force(tmp_path: Path) -> None:
    (tmp_path / "model.nn").write_text("mine", encoding="utf-8")
    assert written(tmp_path, "a.py", PYTHON) == 2
    assert (tmp_path / "model.nn").read_text(encoding="utf-8") == "mine"
    assert not (tmp_path / "model.toml").exists()
    assert written(tmp_path, "a.py", PYTHON, "--force") == 0
    assert written(tmp_path, "a.py", PYTHON, "--output", str(tmp_path / "no")) == 2


@pytest.mark.parametrize(
    "path", ["net.nn", "nets/mine", "C:\\\\nets\\\\my net.nn", "~/a.txt", "x.nn"]
)
@pytest.mark.parametrize(
    ("script", "call", "hint"),
    [
        ("a.R", 'fit <- rxNeuralNet(y ~ ., netDefinition = "{0}")', "paste(readLines(...))"),
        ("b.py", 'fit = rx_neural_network("y ~ .", net_definition="{0}")', "open(...).read()"),
    ],
)
def test_the_name_of_a_file_is_no_definition(
    script: str,
    call: str,
    hint: str,
    path: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    (tmp_path / "x.nn").write_text(NET, encoding="utf-8")
    assert written(tmp_path, script, call.format(path)) == 1
    output = capsys.readouterr().out.replace(f"{tmp_path}/", "")
    assert output.splitlines() == [
        f"{script}:1: fit is not written: its definition is not known.",
        f'{script}:1: netDefinition: "{path}" is the name of a file where the hosts take the text '
        f"of Net#; read the file there, with {hint}.",
    ]
    assert not (tmp_path / "fit.nn").exists()
    assert main(["run", str(tmp_path / script), "--train", "rows.csv"]) == 2
    assert "is the name of a file where" in capsys.readouterr().err


@pytest.mark.parametrize("net", ["input X [3]; output Y [1] from X all;", "// a/b.c\\ninput X;"])
def test_a_text_of_net_sharp_is_no_name_of_a_file(net: str, tmp_path: Path) -> None:
    call = f'fit <- rxNeuralNet(y ~ ., netDefinition = "{net}")'
    assert written(tmp_path, "a.R", call) == 0
    assert (tmp_path / "fit.nn").exists()


SCRIPT = "N'fit <- rxNeuralNet(y ~ ., data = InputDataSet)'"
QUERY = "SELECT a, [b c]\n  FROM t WHERE n = ''x''"
RUN = "EXEC sp_execute_external_script @language = N'R', @script = "


@pytest.mark.parametrize(
    ("sql", "query"),
    [
        (f"{RUN}{SCRIPT}, @input_data_1 = N'{QUERY}';", True),
        (f"DECLARE @s nvarchar(max) = {SCRIPT};\n{RUN}@s, @input_data_1 = N'{QUERY}';", True),
        (
            f"DECLARE @q nvarchar(max) = N'SELECT 1';\nSET @q = N'{QUERY}';\n"
            f"{RUN}{SCRIPT}, @input_data_1 = @q;\nSET @q = N'SELECT 2';",
            True,
        ),
        (f"EXEC sp_execute_external_script N'R', {SCRIPT}, N'{QUERY}';", True),
        (f"EXEC sp_execute_external_script N'R', {SCRIPT}, N'{QUERY}', N'InputDataSet';", True),
        (
            f"DECLARE @q nvarchar(max) = N'{QUERY}', @s nvarchar(max) = {SCRIPT};\n"
            "EXEC sys.sp_execute_external_script N'R', @s, @q, N'InputDataSet';",
            True,
        ),
        (f"EXEC sp_execute_external_script N'R', {SCRIPT}, @input_data_1 = N'{QUERY}';", True),
        (f"EXEC sp_execute_external_script N'R', {SCRIPT}, @params = N'{QUERY}';", False),
        (f"EXEC sp_execute_external_script N'R', {SCRIPT}, @unknown, N'{QUERY}';", False),
        (f"{RUN}{SCRIPT}, @input_data_1 = @unknown;", False),
        (f"{RUN}{SCRIPT};", False),
    ],
    ids=[
        *("literal", "script in a variable", "query in a variable", "by place", "before a name"),
        *("all by place in variables", "named behind places", "another argument", "fourth"),
        *("not known", "none"),
    ],
)
def test_the_query_of_the_rows_is_kept_as_a_comment(sql: str, query: bool, tmp_path: Path) -> None:
    assert written(tmp_path, "train.sql", sql) == 1
    text = (tmp_path / "fit.toml").read_text(encoding="utf-8")
    assert ("# Their query:\n#   SELECT a, [b c]\n#     FROM t WHERE n = 'x'\n" in text) == query
    assert ("Their query" in text) == query
    assert "# Export the rows of: InputDataSet" in text


def test_what_a_variable_puts_into_a_query_is_left_out_visibly(tmp_path: Path) -> None:
    sql = f"{RUN}{SCRIPT}, @input_data_1 = CONCAT(N'SELECT * FROM ', @table, N' WHERE a > 1');"
    assert written(tmp_path, "train.sql", sql) == 1
    text = (tmp_path / "fit.toml").read_text(encoding="utf-8")
    assert "# Their query:\n#   SELECT * FROM ... WHERE a > 1\n" in text


def test_a_comment_in_a_query_ends_with_its_line(tmp_path: Path) -> None:
    query = "\r\n  SELECT a -- the first\r\n\r\n  FROM t\r\n"
    sql = f"{RUN}{SCRIPT}, @input_data_1 = N'{query}';"
    (tmp_path / "train.sql").write_text(sql, encoding="utf-8", newline="")
    assert main(["import", str(tmp_path / "train.sql")]) == 1
    text = (tmp_path / "fit.toml").read_text(encoding="utf-8")
    assert "# Their query:\n#     SELECT a -- the first\n#   \n#     FROM t\n\n" in text
