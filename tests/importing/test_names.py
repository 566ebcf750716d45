"""Names in scripts: what one plain assignment gives is taken, all else listed, never guessed."""

from __future__ import annotations

from pathlib import Path

import pytest

from netsharp_lsp.__main__ import main
from tests.importing.read_calls import call_of, epochs_of

PYTHON_CALL = 'fit = rx_neural_network("y ~ .", num_iterations=n)'
R_CALL = "fit <- rxNeuralNet(y ~ ., numIterations = n)"


KNOWN_IN_PYTHON = {
    "plain": f"n = 5\n{PYTHON_CALL}",
    "typed": f"n: int = 5\n{PYTHON_CALL}",
    "through another": f"m = 5\nn = m\n{PYTHON_CALL}",
    "another function's": f"n = 5\ndef f():\n    n = 6\n    for n in (): pass\n{PYTHON_CALL}",
    "another function's parameter": f"n = 5\ndef f(n): return n\n{PYTHON_CALL}",
    "a lambda's": f"n = 5\ng = lambda n: n\n{PYTHON_CALL}",
    "a comprehension's": f"n = 5\nm = [n for n in range(3)]\n{PYTHON_CALL}",
    "a class's": f"n = 5\nclass A:\n    n = 6\n{PYTHON_CALL}",
    "an attribute": f"n = 5\na.n = 6\n{PYTHON_CALL}",
    "the module's, in a function": f"n = 5\ndef f():\n    {PYTHON_CALL}\n",
    "the module's, given behind": f"def f():\n    {PYTHON_CALL}\nn = 5\n",
    "the function's own": f"n = 6\ndef f():\n    n = 5\n    {PYTHON_CALL}\n",
    "past a class": f"n = 5\nclass A:\n    n = 6\n    def f(self):\n        {PYTHON_CALL}\n",
}
UNKNOWN_IN_PYTHON = {
    "twice": f"n = 5\nn = 6\n{PYTHON_CALL}",
    "in two branches": f"if a:\n    n = 5\nelse:\n    n = 6\n{PYTHON_CALL}",
    "behind": f"{PYTHON_CALL}\nn = 5",
    "a parameter": f"n = 5\ndef f(n):\n    {PYTHON_CALL}\n",
    "a parameter by name": f"n = 5\ndef f(*, n=3):\n    {PYTHON_CALL}\n",
    "all by name": f"n = 5\ndef f(**n):\n    {PYTHON_CALL}\n",
    "a lambda's": 'n = 5\nfit = lambda n: rx_neural_network("y ~ .", num_iterations=n)',
    "a comprehension's": 'n = 5\nm = [rx_neural_network("y ~ .", num_iterations=n) for n in x]',
    "another function's": f"def f():\n    n = 5\n{PYTHON_CALL}",
    "a class's": f"class A:\n    n = 5\n{PYTHON_CALL}",
    "unpacked": f"n = 5\nn, m = 6, 7\n{PYTHON_CALL}",
    "starred": f"*n, m = 6, 7\n{PYTHON_CALL}",
    "with": f"n = 5\nwith open(x) as n: pass\n{PYTHON_CALL}",
    "walrus": f"n = 5\nprint(n := 6)\n{PYTHON_CALL}",
    "walrus in a comprehension": f"n = 5\n[(n := m) for m in x]\n{PYTHON_CALL}",
    "import": f"n = 5\nimport n\n{PYTHON_CALL}",
    "import as": f"n = 5\nfrom m import k as n\n{PYTHON_CALL}",
    "loop": f"n = 5\nfor n in range(7): pass\n{PYTHON_CALL}",
    "added to": f"n = 5\nn += 1\n{PYTHON_CALL}",
    "deleted": f"n = 5\ndel n\n{PYTHON_CALL}",
    "except": f"n = 5\ntry: pass\nexcept E as n: pass\n{PYTHON_CALL}",
    "match": f"n = 5\nmatch x:\n    case [n, *m]: pass\n{PYTHON_CALL}",
    "match rest": f"n = 5\nmatch x:\n    case {{**n}}: pass\n{PYTHON_CALL}",
    "a function": f"n = 5\ndef n(): pass\n{PYTHON_CALL}",
    "a class": f"n = 5\nclass n: pass\n{PYTHON_CALL}",
    "global": f"n = 5\ndef f():\n    global n\n    n = 6\n{PYTHON_CALL}",
    "nonlocal": "def f():\n    n = 5\n    def g():\n        nonlocal n\n        n = 6\n"
    f"    {PYTHON_CALL}\n",
    "a function of the script's own": f"def str(x): return 3\nn = str(5)\n{PYTHON_CALL}",
}


@pytest.mark.parametrize("form", KNOWN_IN_PYTHON)
def test_a_plain_assignment_of_python_is_taken(form: str) -> None:
    assert epochs_of("a.py", KNOWN_IN_PYTHON[form]) == 5


@pytest.mark.parametrize("form", UNKNOWN_IN_PYTHON)
def test_a_name_of_python_that_only_a_run_knows_is_listed(form: str) -> None:
    assert epochs_of("a.py", UNKNOWN_IN_PYTHON[form]) is None


@pytest.mark.parametrize(
    "changed",
    [
        't.append(concat({"b": ["c"]}))',
        't[0] = concat({"b": ["c"]})',
        "del t[0]",
        "t += [more]",
        "s = t\ns.clear()",
        "def grow(x): x.append(1)\ngrow(t)",
    ],
)
def test_a_list_of_python_that_is_changed_is_known_only_at_run_time(changed: str) -> None:
    text = (
        f't = [concat({{"a": ["b"]}})]\n{changed}\n'
        'fit = rx_neural_network("y ~ a", ml_transforms=t)'
    )
    lost = [(one.argument, one.why) for one in call_of("a.py", text).left]
    assert ("mlTransforms", "t is known only at run time") in lost


TABLE_CHANGES_IN_PYTHON = [
    'd.drop(columns="id", inplace=True)',
    'd["x"].fillna(0, inplace=True)',
    'del d["x"]',
    'd.pop("x")',
    'gone = d.pop("x")',
    'd.insert(0, "x", 3)',
    "d.update(other)",
    'd["x"][0] = 1',
    'd["x"] += 1',
    'd.loc[d.x > 3, "y"] = 0',
    "d.iloc[0] = 0",
    "d.at[0, 'x'] = 3",
    "d.values[0] = 3",
    "d.x = 3",
    "d.columns = ['a', 'y']",
    'd["x"], d["z"] = d["z"], d["x"]',
    'd[["x", "z"]] = 0',
    'setattr(d, "x", 3)',
]


@pytest.mark.parametrize("change", TABLE_CHANGES_IN_PYTHON)
def test_changes_of_a_table_in_python_are_listed(change: str) -> None:
    text = f'd = pd.read_csv("r.csv")\n{change}\nfit = rx_neural_network("y ~ .", data=d)'
    call = call_of("a.py", text)
    assert {one.key: one.value for one in call.settings}["train"] == "r.csv"
    assert [(one.argument, one.line, one.why) for one in call.left] == [
        ("data", 2, f"{change}: do it in the table")
    ]


@pytest.mark.parametrize(
    "change",
    ["d = d[d.x > 3]", 'd = d.drop(columns="id")', "d, e = split(d)", "d: Any = d.dropna()"],
)
def test_a_table_of_python_that_is_given_again_is_to_be_exported(change: str) -> None:
    text = f'd = pd.read_csv("r.csv")\n{change}\nfit = rx_neural_network("y ~ .", data=d)'
    call = call_of("a.py", text)
    assert "train" not in {one.key for one in call.settings}
    assert [(one.argument, one.line, one.why) for one in call.left] == [
        ("data", 3, "export d to the table of 'train'"),
        ("data", 2, f"{change}: is done before the table is written"),
    ]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.py", 'd["x"] = 3\nfit = rx_neural_network("y ~ .", data=d)'),
        ("a.py", 'd.drop(columns="x", inplace=True)\nfit = rx_neural_network("y ~ .", data=d)'),
        ("a.py", 'from m import d; d.pop("x")\nfit = rx_neural_network("y ~ .", data=d)'),
        ("a.R", "d$x <- 3\nfit <- rxNeuralNet(y ~ ., data = d)"),
        ("a.R", 'names(d) <- "x"\nfit <- rxNeuralNet(y ~ ., data = d)'),
        ("a.R", "d <- d[d$x > 3, ]\nfit <- rxNeuralNet(y ~ ., data = d)"),
        ("a.R", "f <- function(d) {\nd$x <- 3\nrxNeuralNet(y ~ ., data = d) }"),
        ("a.py", 'def f(d):\n    d["x"] = 3\n    rx_neural_network("y ~ .", data=d)'),
        ("a.py", 'd = d.dropna()\nfit = rx_neural_network("y ~ .", data=d)'),
    ],
)
def test_changes_of_a_table_that_comes_from_outside_are_listed(name: str, text: str) -> None:
    reported, *others = [one.why for one in call_of(name, text).left]
    assert reported == "export d to the table of 'train'"
    assert len(others) == 1
    assert others[0].endswith(": is done before the table is written")


def test_a_table_of_python_is_changed_under_each_of_its_names() -> None:
    text = (
        'd = pd.read_csv("r.csv")\ne = d\ne["x"] = e["x"].astype("category")\nd.pop("z")\n'
        'part = e["w"]\npart[0] = 3\nfit = rx_neural_network("y ~ .", data=e)'
    )
    call = call_of("a.py", text)
    settings = {one.key: one.value for one in call.settings}
    assert (settings["train"], settings["categorical"]) == ("r.csv", ["x"])
    assert [(one.line, one.why) for one in call.left] == [
        (4, 'd.pop("z"): do it in the table'),
        (6, "part[0] = 3: do it in the table"),
    ]


def test_what_python_does_after_the_call_or_to_other_tables_is_none_of_its() -> None:
    text = (
        'd = pd.read_csv("r.csv")\nother["x"] = 1\ndef f(d):\n    d["x"] = 3\n'
        'print(d)\nd.head()\ne = d.dropna()\nfit = rx_neural_network("y ~ .", data=d)\n'
        'd["seen"] = rx_predict(fit, d)\nd.x = d.x.astype("category")'
    )
    call = call_of("a.py", text)
    assert call.left == []
    assert "categorical" not in {one.key for one in call.settings}


@pytest.mark.parametrize(
    "text",
    [
        'for i in range(3):\n    fit = rx_neural_network("y ~ .", data=d)\n    d["x"] = i\n',
        'def f():\n    fit = rx_neural_network("y ~ .", data=d)\nd["x"] = 3\nf()',
        'if a:\n    d["x"] = d["x"].astype("category")\nfit = rx_neural_network("y ~ .", data=d)',
        'for x in "ab":\n    d[x] = d[x].astype("category")\n'
        'fit = rx_neural_network("y ~ .", data=d)',
        'def f():\n    d["x"] = d["x"].astype("category")\nf()\n'
        'fit = rx_neural_network("y ~ .", data=d)',
    ],
    ids=["loop", "call in a function", "branch", "columns of a loop", "change in a function"],
)
def test_what_python_may_do_before_the_call_is_listed(text: str) -> None:
    call = call_of("a.py", f'd = pd.read_csv("r.csv")\n{text}')
    assert "categorical" not in {one.key for one in call.settings}
    (lost,) = call.left
    assert lost.argument == "data"
    assert lost.why.endswith("do it in the table")


KNOWN_IN_R = {
    "plain": f"n <- 5\n{R_CALL}",
    "with =": f"n = 5\n{R_CALL}",
    "to the right": f"5 -> n\n{R_CALL}",
    "on the next line": f"n <-\n  5\n{R_CALL}",
    "in backquotes": f"`n` <- 5\n{R_CALL}",
    "through another": f"m <- 5\nn <- m\n{R_CALL}",
    "at the top by <<-": f"n <<- 5\n{R_CALL}",
    "another function's": f"n <- 5\nf <- function() {{ n <- 6; for (n in x) n[1] <- 3 }}\n{R_CALL}",
    "another function's parameter": f"n <- 5\nf <- function(n = 3) n + 1\n{R_CALL}",
    "a lambda's": f"n <- 5\nf <- \\(n) n + 1\n{R_CALL}",
    "local": f"n <- 5\nlocal({{ n <- 6 }})\n{R_CALL}",
    "within": f"n <- 5\ne <- within(d, {{ n <- 6 }})\n{R_CALL}",
    "an item": f"n <- 5\na$n <- 6\n{R_CALL}",
    "the text's, in a function": f"n <- 5\nf <- function() {{\n  {R_CALL}\n}}\n",
    "the text's, given behind": f"f <- function() {{\n  {R_CALL}\n}}\nn <- 5\n",
    "the function's own": f"n <- 6\nf <- function() {{\n  n <- 5\n  {R_CALL}\n}}\n",
    "changed behind": f"n <- 5\n{R_CALL}\nn[2] <- 3",
}
UNKNOWN_IN_R = {
    "twice": f"n <- 5\nn <- 6\n{R_CALL}",
    "twice to the right": f"n <- 5\n6 -> n\n{R_CALL}",
    "in two branches": f"if (a) n <- 5 else n <- 6\n{R_CALL}",
    "behind": f"{R_CALL}\nn <- 5",
    "a parameter": f"n <- 5\nf <- function(n) {{\n  {R_CALL}\n}}\n",
    "a parameter with a default": f"n <- 5\nf <- function(a, n = 3) {R_CALL}\n",
    "a lambda's": f"n <- 5\nf <- \\(n) {R_CALL}\n",
    "another function's": f"f <- function() {{ n <- 5 }}\n{R_CALL}",
    "local": f"local({{ n <- 5 }})\n{R_CALL}",
    "loop": f"n <- 5\nfor (n in 1:7) print(n)\n{R_CALL}",
    "assign": f'n <- 5\nassign("n", 6)\n{R_CALL}',
    "as a string": f'n <- 5\n"n" <- 6\n{R_CALL}',
    "an item of it": f"n <- 5\nn[1] <- 6\n{R_CALL}",
    "a named item of it": f"n <- 5\nn$a <- 6\n{R_CALL}",
    "an item to the right": f"n <- 5\n6 -> n[[1]]\n{R_CALL}",
    "names": f'n <- 5\nnames(n) <- "a"\n{R_CALL}',
    "names of names": f'n <- 5\nbase::names(attr(n, "a"))[1] <- "a"\n{R_CALL}',
    "<<-": f"n <- 5\nf <- function() n <<- 6\n{R_CALL}",
    "->>": f"n <- 5\nf <- function() 6 ->> n\n{R_CALL}",
    "an item by <<-": f"n <- 5\nf <- function() n[1] <<- 6\n{R_CALL}",
    "<<- in a function": "f <- function() {\n  n <- 5\n  g <- function() n <<- 6\n"
    f"  {R_CALL}\n}}\n",
    "within a call": f"n <- 5\nprint(n <- 6)\n{R_CALL}",
    "a pipe": f"n <- 5\nn %<>% sqrt()\n{R_CALL}",
    "piped on": f"n <- 5 |>\n  sqrt()\n{R_CALL}",
    "added to on the next line": f"n <- 5 +\n  1\n{R_CALL}",
    "a loop that changes it behind": f"n <- 5\nfor (i in x) {{\n{R_CALL}\nn[1] <- i }}",
    "a function of the script's own": f"as.integer <- function(x) 3\nn <- as.integer(5)\n{R_CALL}",
    "all of a function's": "f <- function(...) rxNeuralNet(y ~ ., numIterations = c(5, ...))",
}


@pytest.mark.parametrize("form", KNOWN_IN_R)
def test_a_plain_assignment_of_r_is_taken(form: str) -> None:
    assert epochs_of("a.R", KNOWN_IN_R[form]) == 5


@pytest.mark.parametrize("form", UNKNOWN_IN_R)
def test_a_name_of_r_that_only_a_run_knows_is_listed(form: str) -> None:
    assert epochs_of("a.R", UNKNOWN_IN_R[form]) is None


def test_a_word_of_r_may_be_a_variable() -> None:
    call = call_of("a.R", "T <- FALSE\nfit <- rxNeuralNet(y ~ ., optimizer = sgd(nag = T))")
    assert ("optimizer: nag", "T is not carried over") not in {
        (one.argument, one.why) for one in call.left
    }
    assert {one.key: one.value for one in call.settings}["nesterov"] is False


TABLE_CHANGES_IN_R = [
    'names(d) <- c("a", "y")',
    'colnames(d)[2] <- "y"',
    'levels(d$y) <- c("u", "v")',
    "d$x <- log(d$x)",
    "d$x[d$x > 3] <- 0",
    'd[["x"]] <- NULL',
    'd["x"] <- 3',
    'd[d$a > 3, "x"] <- 0',
    "d[is.na(d)] <- 0",
    'd[, c("x", "z")] <- 0',
    "3 -> d$x",
    "d[, x := 3]",
    "d[, `:=`(x = 3)]",
    'setnames(d, "a", "b")',
    "d %<>% na.omit()",
    "dim(d$x) <- 3",
]


@pytest.mark.parametrize("change", TABLE_CHANGES_IN_R)
def test_changes_of_a_table_in_r_are_listed(change: str) -> None:
    text = f'd <- read.csv("r.csv")\n{change}\nfit <- rxNeuralNet(y ~ ., data = d)'
    call = call_of("a.R", text)
    assert {one.key: one.value for one in call.settings}["train"] == "r.csv"
    assert [(one.argument, one.line, one.why) for one in call.left] == [
        ("data", 2, f"{change}: do it in the table")
    ]


@pytest.mark.parametrize(
    "change",
    [
        "d <- subset(d, x > 3)",
        "d <- d[d$x > 3, ]",
        "d = transform(d, x = 3)",
        "na.omit(d) -> d",
        'assign("d", na.omit(d))',
        "d <- d %>%\n  filter(x > 3)",
    ],
)
def test_a_table_of_r_that_is_given_again_is_to_be_exported(change: str) -> None:
    text = f'd <- read.csv("r.csv")\n{change}\nfit <- rxNeuralNet(y ~ ., data = d)'
    call = call_of("a.R", text)
    assert "train" not in {one.key for one in call.settings}
    assert [(one.argument, one.line, one.why) for one in call.left] == [
        ("data", text.count("\n") + 1, "export d to the table of 'train'"),
        ("data", 2, f"{' '.join(change.split())}: is done before the table is written"),
    ]


def test_a_table_of_r_is_what_it_was_where_it_was_copied() -> None:
    text = (
        'd <- read.csv("r.csv")\nd$x <- factor(d$x)\nd$z <- NULL\ne <- d\nd$behind <- 3\n'
        "e$w <- factor(e$w)\ne$v <- 3\nfit <- rxNeuralNet(y ~ ., data = e)\ne$after <- 3\n"
    )
    call = call_of("a.R", text)
    settings = {one.key: one.value for one in call.settings}
    assert (settings["train"], settings["categorical"]) == ("r.csv", ["x", "w"])
    assert [(one.line, one.why) for one in call.left] == [
        (3, "d$z <- NULL: do it in the table"),
        (7, "e$v <- 3: do it in the table"),
    ]


def test_what_r_does_after_the_call_or_to_other_tables_is_none_of_its() -> None:
    text = (
        'd <- read.csv("r.csv")\nother$x <- 1\nf <- function(d) { d$x <- 3 }\nprint(d)\n'
        "g <- function() { d$x <- 3; names(d) <- n }\nlocal({ d$x <- 3 })\n"
        "fit <- rxNeuralNet(y ~ ., data = d)\nd$seen <- rxPredict(fit, d)\nd$x <- factor(d$x)\n"
    )
    call = call_of("a.R", text)
    assert call.left == []
    assert "categorical" not in {one.key for one in call.settings}


@pytest.mark.parametrize(
    "text",
    [
        "for (i in 1:3) {\n  fit <- rxNeuralNet(y ~ ., data = d)\n  d$x <- factor(d$x)\n}",
        "f <- function() rxNeuralNet(y ~ ., data = d)\nd$x <- factor(d$x)\nf()",
        "if (a) d$x <- factor(d$x)\nfit <- rxNeuralNet(y ~ ., data = d)",
        "for (x in n) d$x <- factor(d$x)\nfit <- rxNeuralNet(y ~ ., data = d)",
        "f <- function() d$x <<- factor(d$x)\nf()\nfit <- rxNeuralNet(y ~ ., data = d)",
    ],
    ids=["loop", "call in a function", "branch", "in a loop", "change in a function"],
)
def test_what_r_may_do_before_the_call_is_listed(text: str) -> None:
    call = call_of("a.R", f'd <- read.csv("r.csv")\n{text}')
    assert "categorical" not in {one.key for one in call.settings}
    (lost,) = call.left
    assert lost.argument == "data"
    assert lost.why.replace("<<-", "<-") == "d$x <- factor(d$x): do it in the table"


@pytest.mark.parametrize(
    ("script", "reads", "lost"),
    [
        ("a.R", "read.csv('r.csv', quote = '')", ["read.csv: quote"]),
        ("a.R", "read.csv('r.csv', quote = \"\\\"'\")", ["read.csv: quote"]),
        ("a.R", "read.csv('r.csv', quote = '\"')", []),
        ("a.R", "read.csv('r.csv', comment.char = '#')", ["read.csv: comment.char"]),
        ("a.R", "read.csv('r.csv', comment.char = '')", []),
        ("a.R", "read.csv('r.csv', nrows = -1)", []),
        ("a.R", "fread('r.csv', nrows = Inf)", []),
        ("a.R", "read.csv('r.csv', nrows = n)", ["read.csv: nrows"]),
        ("a.R", "read_csv('r.csv', comment = '#')", ["read_csv: comment"]),
        ("b.py", "pd.read_csv('r.csv', comment='#')", ["read_csv: comment"]),
        ("b.py", "pd.read_csv('r.csv', comment=None)", []),
        ("b.py", "pd.read_csv('r.csv', quotechar='|')", ["read_csv: quotechar"]),
        ("b.py", "pd.read_csv('r.csv', quotechar='\"', nrows=None)", []),
        ("b.py", "pd.read_csv('r.csv', quoting=3)", ["read_csv: quoting"]),
        ("b.py", "pd.read_csv('r.csv', *more)", ["read_csv: *more"]),
        ("b.py", "pd.read_csv('r.csv', **more)", ["read_csv: **more"]),
        ("a.R", "read.csv('r.csv', ...)", ["read.csv: ..."]),
    ],
)
def test_how_a_table_is_read_is_carried_or_listed(script: str, reads: str, lost: list[str]) -> None:
    function = "rxNeuralNet(y ~ .," if script == "a.R" else 'rx_neural_network("y ~ .",'
    call = call_of(script, f"d = {reads}\nfit = {function} data = d)")
    settings = {one.key: one.value for one in call.settings}
    assert settings["train"] == "r.csv"
    assert "rows" not in settings
    assert [one.argument for one in call.left] == lost


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("line", ["a = 5if b else 3", 'a = "\\d"', "a = 5 is b", "assert (a, b)"])
def test_the_style_of_a_script_warns_no_one(line: str) -> None:
    assert epochs_of("a.py", f"{line}\nn = 5\n{PYTHON_CALL}") == 5


def test_the_run_tells_it_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "r.csv").write_text("a,b,y\n" + "1,2,u\n3,4,v\n" * 4)
    (tmp_path / "a.py").write_text(
        'd = pd.read_csv("r.csv")\nd.drop(columns="b", inplace=True)\n'
        'fit = rx_neural_network("y ~ .", data=d, num_iterations=1)\n'
    )
    assert main(["run", "a.py"]) == 0
    output = capsys.readouterr().err
    assert 'a.py:2: data: d.drop(columns="b", inplace=True): do it in the table.' in output
