"""Formulas, transforms, factors, tables, ensembles: what becomes of columns, what is reported."""

from __future__ import annotations

import shutil
import tomllib
from pathlib import Path
from typing import Any

import pytest

from netsharp_lsp.__main__ import main
from tests.importing.direct import assert_import_then_run_is_the_call, numbers_of

IRIS = Path(__file__).parents[2] / "examples" / "iris" / "iris.csv"


def imported(folder: Path, script: str, text: str, name: str = "fit") -> dict[str, Any]:
    """The [data] of the run file of a script's call."""
    (folder / script).write_text(text, encoding="utf-8")
    assert main(["import", str(folder / script), "--force"]) in (0, 1)
    table = tomllib.loads((folder / f"{name}.toml").read_text(encoding="utf-8"))
    data: dict[str, Any] = table["data"]
    return data


@pytest.mark.parametrize(
    ("formula", "wanted"),
    [
        ("y ~ .", {"label": "y"}),
        ("y ~ a + b + a", {"label": "y", "columns": ["a", "b"]}),
        ("`the y` ~ `a + b` + .c", {"label": "the y", "columns": ["a + b", ".c"]}),
        ("y ~ . - id - `row no`", {"label": "y", "exclude": ["id", "row no"]}),
        ("y ~ . + a", {"label": "y"}),
        ("y ~ a - b + log(c + d)", {"label": "y", "columns": ["a"]}),
        ("y ~ both", {"label": "y", "columns": ["a", "c"]}),
        ("y ~ all + d", {"label": "y", "columns": ["a", "c", "b", "d"]}),
        ("y ~ kindCat", {"label": "y", "columns": ["kind"], "categorical": ["kind"]}),
        ("y ~ a:b + log(a) + c", {"label": "y", "columns": ["c"]}),
        ("log(y) ~ a", {"columns": ["a"]}),
        ("y ~ . - w + w", {"label": "y"}),
        ("y ~ . - w + w - w", {"label": "y", "exclude": ["w"]}),
        ("y ~ . - y", {"label": "y"}),
        ("y ~ a + b - a", {"label": "y", "columns": ["b"]}),
        ("y ~ a - . + b", {"label": "y", "columns": ["b"]}),
        ("y ~ - a + .", {"label": "y"}),
        ("y ~ (a + b) + (c)", {"label": "y", "columns": ["a", "b", "c"]}),
        ("y ~ . - (a + b)", {"label": "y", "exclude": ["a", "b"]}),
        ("y ~ (a + b):c + d", {"label": "y", "columns": ["d"]}),
        ("`y ~ z` ~ `a ~ b` + c", {"label": "y ~ z", "columns": ["a ~ b", "c"]}),
    ],
)
def test_formulas_in_both_languages(formula: str, wanted: dict[str, Any], tmp_path: Path) -> None:
    kind = "kindCat" in formula
    r_more = ', categorical(vars = c(kindCat = "kind"))' if kind else ""
    made = f"""fit <- rxNeuralNet({formula}, data = d, mlTransforms = list(
      concat(vars = list(both = c("a", "c"))), concat(list(all = c("both", "b"))){r_more}))"""
    assert imported(tmp_path, "a.R", made) == wanted
    p_more = ', categorical(cols={"kindCat": "kind"})' if kind else ""
    made = f"""fit = rx_neural_network("{formula}", data=d, ml_transforms=[
      concat(cols={{"both": ["a", "c"]}}), concat({{"all": ["both", "b"]}}){p_more}])"""
    assert imported(tmp_path, "b.py", made) == wanted


@pytest.mark.parametrize(
    "formula",
    [
        "y ~ a + # the first\n  b + `c # d`",
        "y ~ # both\n a + b # and\n + `c # d`",
        'as.formula("y ~ a + # in a text\n b + `c # d`")',
        'as.formula(paste("y ~ a +", # outside\n "b + `c # d`"))',
    ],
)
def test_a_comment_in_a_formula_takes_no_column(formula: str, tmp_path: Path) -> None:
    found = imported(tmp_path, "a.R", f"fit <- rxNeuralNet({formula}, data = d)")
    assert found == {"label": "y", "columns": ["a", "b", "c # d"]}


@pytest.mark.parametrize("formula", ["a ~ b ~ c", "~ a", "y ~", "`y ~ a`", "y"])
def test_what_is_no_formula_is_known_only_at_run_time(
    formula: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert imported(tmp_path, "b.py", f'fit = rx_neural_network("{formula}")') == {}
    assert f'formula: "{formula}" is known only at run time.' in capsys.readouterr().out


FACTORS_R = """
d <- read.csv("rows.csv", header = TRUE, sep = ";", stringsAsFactors = FALSE, na.strings = "?")
d$size <- factor(d$size, levels = c("L", "M", "S"))
d$colour <- factor(d$colour, levels = c("red", "green"))
d[["kind"]] <- as.factor(d[["kind"]])
d$y <- factor(d$y)
d$twice <- 2 * d$a
fit <- rxNeuralNet(y ~ ., data = d)
"""
FACTORS_PYTHON = """
d = pd.read_csv("rows.csv", sep=";", na_values="?")
d["size"] = pd.Categorical(d["size"], categories=["L", "M", "S"])
d["colour"] = pd.Categorical(d["colour"], categories=["red", "green"])
d["kind"] = d["kind"].astype("category")
d.y = d.y.astype('category')
d["twice"] = 2 * d["a"]
fit = rx_neural_network("y ~ .", data=d)
"""


@pytest.mark.parametrize(
    ("script", "text", "reported"),
    [
        (
            "a.R",
            FACTORS_R,
            [
                'a.R:2: read.csv: na.strings: "?" is not carried over.',
                "a.R:4: factor of colour: levels are in order of their names here, not as "
                "red, green.",
                "a.R:7: data: d$twice <- 2 * d$a: do it in the table.",
            ],
        ),
        (
            "b.py",
            FACTORS_PYTHON,
            [
                'b.py:2: read_csv: na_values: "?" is not carried over.',
                "b.py:4: factor of colour: levels are in order of their names here, not as "
                "red, green.",
                'b.py:7: data: d["twice"] = 2 * d["a"]: do it in the table.',
            ],
        ),
    ],
)
def test_tables_and_factors(
    script: str, text: str, reported: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data = imported(tmp_path, script, text)
    assert data["train"] == "rows.csv"
    assert data["delimiter"] == "semicolon"
    assert data["categorical"] == ["size", "colour", "kind"]
    output = capsys.readouterr().out.replace(f"{tmp_path}/", "").splitlines()
    assert output[1:] == sorted(reported, key=lambda line: output.index(line))
    assert len(output) == 1 + len(reported)


@pytest.mark.parametrize(
    "changed",
    [
        'd <- read.csv(paste0(folder, "rows.csv"))',
        'd <- read.csv("https://example.org/rows.csv")',
        'd <- read.csv("rows.csv")\nd <- d[d$a > 3, ]',
        "d <- RxSqlServerData(sqlQuery = query)",
    ],
)
def test_tables_that_only_a_run_knows_are_asked_for(
    changed: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data = imported(tmp_path, "a.R", f"{changed}\nfit <- rxNeuralNet(y ~ ., data = d)\n")
    assert "train" not in data
    assert "data: export d to the table of 'train'." in capsys.readouterr().out


ENSEMBLES = {
    "a.R": """fit <- rxEnsemble(species ~ petal_length + petal_width, data = read.csv("iris.csv"),
  type = "multiClass", randomSeed = 3, modelCount = 2, trainers = list(
    neuralNet(numHiddenNodes = 4, numIterations = 2),
    rxFastTrees(),
    neuralNet(optimizer = adaDeltaSgd(0.9), numIterations = 3)))""",
    "b.py": """fit = rx_ensemble("species ~ petal_length + petal_width", pd.read_csv("iris.csv"),
  method="multiClass", random_seed=3, model_count=2, trainers=[
    NeuralNetwork(num_hidden_nodes=4, num_iterations=2),
    FastTrees(),
    NeuralNetwork(optimizer=adadelta_optimizer(0.9), num_iterations=3)])""",
}


@pytest.mark.parametrize("script", ENSEMBLES)
def test_learners_of_an_ensemble_are_trained_alone(
    script: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    shutil.copy(IRIS, tmp_path / "iris.csv")
    monkeypatch.chdir(tmp_path)
    (tmp_path / script).write_text(ENSEMBLES[script], encoding="utf-8")
    assert main(["import", script]) == 1
    output = capsys.readouterr().out
    ensemble = "rxEnsemble" if script == "a.R" else "rx_ensemble"
    count = "modelCount" if script == "a.R" else "model_count"
    assert f"{script}:3: {ensemble}: one model is trained here, not an ensemble." in output
    assert f"{script}:5: {ensemble}: one model is trained here, not an ensemble." in output
    assert f"{script}:2: {count}: 2 is not carried over: it is about the ensemble." in output
    assert main(["run", f"{script}::5", "--show-settings"]) == 0
    shown = capsys.readouterr().out
    for words in ('"adadelta"', '["petal_length", "petal_width"]', '"multiclass"'):
        assert words in shown
    assert_import_then_run_is_the_call(tmp_path, f"{script}::3")


def test_a_call_within_another_call_is_no_ensemble(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    imported(tmp_path, "a.R", "print(summary(rxNeuralNet(y ~ ., data = d)))", "a")
    assert "ensemble" not in capsys.readouterr().out


def test_arguments_by_place(tmp_path: Path) -> None:
    text = 'fit <- rxNeuralNet(y ~ ., d, "regression", 7, 8, sgd(0.5, 0.25, TRUE))'
    imported(tmp_path, "a.R", text)
    train = tomllib.loads((tmp_path / "fit.toml").read_text(encoding="utf-8"))["train"]
    assert (train["task"], train["hidden_nodes"], train["epochs"]) == ("regression", 7, 8)
    assert (train["learning_rate"], train["momentum"], train["nesterov"]) == (0.5, 0.25, True)


ALL_IN_R = (
    'y ~ a, d, "regression", 7, 8, sgd(0.5), NULL, 0.2, 3, "sse", 4, "no", '
    'list(concat(list(a = c("b", "c")))), v, r, t, o, f, w, p, e, 1, 2, 3, cc, en'
)
ALL_IN_PYTHON = (
    '"y ~ a", d, "regression", 7, 8, sgd_optimizer(0.5), None, 0.2, 3, "mkl_math", 4, "No", '
    '[concat({"a": ["b", "c"]})], v, r, t, o, f, w, p, e, 1, 2, 3, en, cc'
)


@pytest.mark.parametrize(
    ("script", "call", "last"),
    [
        ("a.R", f"fit <- rxNeuralNet({ALL_IN_R})", ["computeContext", "ensemble"]),
        ("b.py", f"fit = rx_neural_network({ALL_IN_PYTHON})", ["ensemble", "computeContext"]),
    ],
)
def test_every_argument_by_place(
    script: str, call: str, last: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert imported(tmp_path, script, call) == {"label": "y", "columns": ["b", "c"]}
    train = tomllib.loads((tmp_path / "fit.toml").read_text(encoding="utf-8"))["train"]
    assert train["init_diameter"] == 0.2
    assert (train["max_norm"], train["batch_size"], train["normalizer"]) == (3, 4, "none")
    output = [line.split(": ")[1] for line in capsys.readouterr().out.splitlines()[1:]]
    transforms = ["transforms", "transformObjects", "transformFunc", "transformVars"]
    packages = ["transformPackages", "transformEnvir"]
    assert output == ["rowSelection", *transforms, *packages, *last, "data"]


def test_arguments_of_an_ensemble_by_place(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = 'fit <- rxEnsemble(y ~ a, d, list(neuralNet(7, 8)), "regression", 3, 5)'
    imported(tmp_path, "a.R", text)
    train = tomllib.loads((tmp_path / "fit.toml").read_text(encoding="utf-8"))["train"]
    assert (train["task"], train["hidden_nodes"], train["epochs"]) == ("regression", 7, 8)
    output = capsys.readouterr().out
    for argument, value in (("randomSeed", 3), ("modelCount", 5)):
        assert f"{argument}: {value} is not carried over: it is about the ensemble." in output


@pytest.mark.parametrize(
    ("script", "call"),
    [
        ("b.py", 'fit = rx_neural_network("y ~ .", d, *more, net_definition="{0}")'),
        ("b.py", 'fit = rx_neural_network("y ~ .", net_definition="{0}", **more)'),
        (
            "b.py",
            "more = {{}}\nmore.update(a)\n"
            'fit = rx_neural_network("y ~ .", net_definition="{0}", **more)',
        ),
        ("a.R", 'f <- function(...) fit <- rxNeuralNet(y ~ ., d, ..., netDefinition = "{0}")'),
    ],
)
def test_arguments_that_only_a_run_knows_are_listed_and_no_default_is_certain(
    script: str, call: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    imported(tmp_path, script, call.format("output Y [1] linear from X all;"))
    output = capsys.readouterr().out
    assert output.count(": what it gives is known only at run time.") == 1
    written = (tmp_path / "fit.toml").read_text(encoding="utf-8")
    defaults = [line for line in written.splitlines() if "the host's default" in line]
    assert defaults
    assert all("the host's default, unless " in line for line in defaults)


@pytest.mark.parametrize(
    ("script", "call", "rest"),
    [
        ("b.py", 'fit = rx_neural_network("y ~ .", d, *more)', "*more"),
        ("b.py", 'fit = rx_neural_network("y ~ .", data=d, **more)', "**more"),
        ("a.R", "f <- function(...) fit <- rxNeuralNet(y ~ ., d, ...)", "..."),
        ("a.R", "fit <- do.call(rxNeuralNet, more)", "more"),
        ("b.py", "fit = partial(rx_neural_network, data=d)", "partial(rx_neural_network, data=d)"),
        ("b.py", "fit = map(m.rx_neural_network, f)", "map(m.rx_neural_network, f)"),
        ("a.R", "fit <- lapply(f, rxNeuralNet)", "lapply(f, rxNeuralNet)"),
        ("a.R", "fit <- Map(f = M::rxNeuralNet, f)", "Map(f = M::rxNeuralNet, f)"),
    ],
)
def test_a_definition_that_only_a_run_may_give_is_not_guessed(
    script: str, call: str, rest: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / script).write_text(call, encoding="utf-8")
    assert main(["import", str(tmp_path / script)]) == 1
    output = capsys.readouterr().out
    assert ":1: fit is not written: its definition is not known." in output
    assert f"{script}:1: {rest}: what it gives is known only at run time." in output
    assert f"{script}:1: netDefinition: {rest} may give it." in output
    assert not list(tmp_path.glob("*.nn"))
    assert main(["run", str(tmp_path / script), "--train", "rows.csv"]) == 2
    assert f"netDefinition: {rest} may give it." in capsys.readouterr().err


@pytest.mark.parametrize(
    "text", ["help(rxNeuralNet)", "print(args(rxNeuralNet))", 'exists("rxNeuralNet")']
)
def test_a_function_that_is_looked_at_is_no_call(
    text: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "a.R").write_text(text, encoding="utf-8")
    assert main(["import", str(tmp_path / "a.R")]) == 2
    assert "holds no call that trains a network" in capsys.readouterr().err


@pytest.mark.parametrize(
    "call",
    [
        'rxNeuralNet(data = d, y ~ a, "regression", 7, 5)',
        'rxNeuralNet(formula = y ~ a, d, "regression", 7, 5)',
        'rxNeuralNet(d, formula = y ~ a, numHiddenNodes = 7, "regression", 5)',
        'd %>% rxNeuralNet(formula = y ~ a, type = "regression", 7, 5)',
        'd |> M::rxNeuralNet(formula = y ~ a, type = "regression", 7, 5)',
        'd %>% rxNeuralNet(y ~ a, data = ., type = "regression", 7, 5)',
        'd |> rxNeuralNet(y ~ a, data = _, type = "regression", 7, 5)',
    ],
)
def test_what_has_a_name_takes_no_place(call: str, tmp_path: Path) -> None:
    assert imported(tmp_path, "a.R", f"fit <- {call}") == {"label": "y", "columns": ["a"]}
    text = (tmp_path / "fit.toml").read_text(encoding="utf-8")
    train = tomllib.loads(text)["train"]
    assert (train["task"], train["hidden_nodes"], train["epochs"]) == ("regression", 7, 5)
    assert "# Export the rows of: " in text


def test_a_pipe_gives_the_table(tmp_path: Path) -> None:
    text = 'd <- read.csv("r.csv")\nd$x <- factor(d$x)\nfit <- d |> rxNeuralNet(formula = y ~ .)'
    found = imported(tmp_path, "a.R", text)
    assert found == {"train": "r.csv", "label": "y", "categorical": ["x"]}


@pytest.mark.parametrize(
    ("script", "call"),
    [
        ("b.py", 'o = {"num_iterations": 5}\nfit = rx_neural_network("y ~ .", **o)'),
        ("b.py", 'o = dict(num_iterations=5)\nfit = rx_neural_network("y ~ .", **o)'),
        ("b.py", 'a = ("y ~ .", d)\nfit = rx_neural_network(*a, num_iterations=5)'),
        ("b.py", 'fit = rx_neural_network("y ~ .", *[d, "binary", 7, 5])'),
        ("a.R", 'fit <- do.call("rxNeuralNet", list(y ~ ., data = d, numIterations = 5))'),
        ("a.R", "o <- list(y ~ ., numIterations = 5)\nfit <- do.call(rxNeuralNet, o)"),
        ("a.R", "fit <- do.call(args = list(y ~ ., numIterations = 5), what = rxNeuralNet)"),
        ("a.R", "fit <- do.call(MicrosoftML::rxNeuralNet, list(y ~ ., numIterations = 5))"),
    ],
)
def test_arguments_in_a_list_that_is_written_are_taken(
    script: str, call: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert imported(tmp_path, script, call) == {"label": "y"}
    train = tomllib.loads((tmp_path / "fit.toml").read_text(encoding="utf-8"))["train"]
    assert train["epochs"] == 5
    assert "run time" not in capsys.readouterr().out


@pytest.mark.parametrize(
    "rule",
    ["sgd(learningRate = 2 * x)", "sgd(x)", "sgd(...)", "sgd(momentum = 0.5, learningRate = x)"],
)
def test_a_rate_that_only_a_run_knows_is_no_default(rule: str, tmp_path: Path) -> None:
    imported(tmp_path, "a.R", f"fit <- rxNeuralNet(y ~ ., optimizer = {rule})")
    assert "learning_rate" not in (tmp_path / "fit.toml").read_text(encoding="utf-8")


def test_categories_are_those_of_features(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "r.csv").write_text("a,b,c,y\n" + "1,2,3,u\n3,4,5,v\n" * 4)
    factors = "".join(f"d${one} <- factor(d${one})\n" for one in "abcy")
    for number, (formula, wanted) in enumerate(
        [("y ~ a + b", ["a", "b"]), ("y ~ . - b", ["a", "c"]), ("y ~ x", ["c"]), ("y ~ .", None)]
    ):
        transforms = ', list(concat(list(x = "c")))' if "x" in formula else ""
        made = f'd <- read.csv("r.csv")\n{factors}fit <- rxNeuralNet({formula}, data = d'
        made += f", mlTransforms = {transforms[2:]}" if transforms else ""
        text = f"{made}, numIterations = 1)\n"
        found = imported(tmp_path, f"s{number}.R", text)
        assert found["categorical"] == (wanted or ["a", "b", "c"])
        assert_import_then_run_is_the_call(tmp_path, f"s{number}.R")


def test_columns_of_lists_are_no_variables(tmp_path: Path) -> None:
    text = 'options$net <- "none"\nnet <- "output Y [1] linear from X all;"\n'
    imported(tmp_path, "a.R", f"{text}fit <- rxNeuralNet(y ~ ., netDefinition = net)\n")
    assert (tmp_path / "fit.nn").read_text(encoding="utf-8").startswith("output Y")


def test_a_table_lies_where_the_script_does(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "scripts").mkdir()
    shutil.copy(IRIS, tmp_path / "scripts" / "iris.csv")
    call = 'fit <- rxNeuralNet(species ~ ., read.csv("iris.csv"), "multi", numIterations = 2)'
    (tmp_path / "scripts" / "a.R").write_text(call, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    assert_import_then_run_is_the_call(tmp_path, "scripts/a.R")


@pytest.mark.parametrize("project", [True, False], ids=["one project", "two"])
def test_files_elsewhere_are_run_as_the_report_says(
    project: bool,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    for name in ("scripts", "nets"):
        (tmp_path / name).mkdir()
    if project:
        (tmp_path / ".git").mkdir()
        (tmp_path / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
    shutil.copy(IRIS, tmp_path / "scripts" / "iris.csv")
    call = 'fit <- rxNeuralNet(species ~ ., read.csv("iris.csv"), "multi", numIterations = 2)'
    (tmp_path / "scripts" / "a.R").write_text(call, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    assert main(["import", "scripts/a.R", "--output", "nets"]) == 0
    output = capsys.readouterr().out.splitlines()
    message = "scripts/a.R:1: data: scripts/iris.csv lies outside nets, so run it with --root "
    allowed = [line.removeprefix(message).removesuffix(".") for line in output if message in line]
    assert allowed == ([] if project else ["scripts"])
    run = ["run", "nets/fit.nn", "--quiet"]
    if not project:
        assert main(run) == 2
        assert "'train' is not named by a flag" in capsys.readouterr().err
        run += ["--root", *allowed]
    assert main([*run, "--model", "again.safetensors"]) == 0
    assert main(["run", "scripts/a.R", "--quiet", "--model", "direct.safetensors"]) == 0
    assert numbers_of(Path("again.safetensors")) == numbers_of(Path("direct.safetensors"))
