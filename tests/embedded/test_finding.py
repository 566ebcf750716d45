"""Which strings of code are specifications, what they are called, what calls determine."""

from __future__ import annotations

import builtins
import inspect
import json
import string
import textwrap

import pytest

from netsharp_lsp.context import Context
from netsharp_lsp.embedded.code.evidence import is_evident
from netsharp_lsp.embedded.finding import find_regions
from netsharp_lsp.embedded.python.trees import read_tree
from netsharp_lsp.embedded.regions import Region
from tests.collection import SAMPLES

NET = "input X [3];\noutput Y [1] from X all;"


def python(text: str) -> list[Region]:
    return find_regions("python", textwrap.dedent(text).encode())


def r(text: str) -> list[Region]:
    return find_regions("r", textwrap.dedent(text).encode())


PYTHON_CALLS = {
    "f(net_definition='input')": None,
    "f(netDefinition='input')": None,
    "a.b.f(x, *y, net_definition='input', **z)": None,
    "m = f(net_definition='input')": "m",
    "self.m = C(net_definition='input').fit()": "self.m",
    "def f(net_definition='input'): pass": None,
    "kw = {'net_definition': 'input'}": "kw",
    "f(net_definition=('input'))": None,
    "f(net_definition='input'.strip())": None,
    "f(net_definition=dedent('input'))": None,
    "f(net_definition=textwrap.dedent('input').strip())": None,
    "f(net_definition=inspect.cleandoc('input'))": None,
    "net = 'input'\nf(net_definition=net)": "net",
    "net: str = 'input'\nf(net_definition=net)": "net",
    "a = net = 'input'\nf(net_definition=net)": "net",
    "def g():\n    net = 'input'\n    f(net_definition=net)": "net",
    "net = 'input'\ndef g():\n    return f(net_definition=net)": "net",
    "class A:\n    net = 'input'\n    x = f(net_definition=net)": "net",
    "if (net := 'input'):\n    f(net_definition=net)": "net",
    "self.net = 'input'\nf(net_definition=self.net)": "self.net",
    "f(net_definition='input',": None,
    "x = (\nnet = 'input'\nf(net_definition=net)": "net",
}


@pytest.mark.parametrize("code", PYTHON_CALLS)
def test_what_python_calls_take(code: str) -> None:
    (region,) = python(code)
    assert region.text == b"input"
    assert region.name == PYTHON_CALLS[code]


@pytest.mark.parametrize(
    "code",
    [
        "f(net_definition=net)",
        "f(definition='input')",
        "net = 'input'\nnet = 'other'\nf(net_definition=net)",
        "net = 'input'\nnet += 'other'\nf(net_definition=net)",
        "net = 'input'\ndef g(net):\n    f(net_definition=net)",
        "net = 'input'\nfor net in x:\n    f(net_definition=net)",
        "def g():\n    net = 'input'\ndef h():\n    f(net_definition=net)",
        "f(net_definition='input'.format(3))",
        "f(net_definition='input' % 3)",
        "f(net_definition='input' * 3)",
        "f(net_definition='input'[1:])",
        "f(net_definition=f'input {x}')",
        "f(net_definition=b'input')",
        "f(net_definition='input' if x else 'other')",
        "# f(net_definition='input')",
        "'''f(net_definition=\"input\")'''",
    ],
)
def test_what_python_leaves_open(code: str) -> None:
    assert python(code) == []


@pytest.mark.parametrize(
    "code",
    [
        "# language=Net#\nx = 'i'",
        "# language=netsharp\n\nf(1, 'i')",
        "x = 'i'  # language: Net#",
        "x = (  # language=Net#\n    'i'\n)",
        "#Language = NetSharp\nreturn 'i'",
    ],
)
def test_what_comments_mark_in_python(code: str) -> None:
    (region,) = python(code)
    assert region.text == b"i"


@pytest.mark.parametrize(
    "code",
    [
        "# language=SQL\nx = 'i'",
        "'# language=Net#'\nx = 'i'",
        "# language=Net#\ny = 1\nz = 2\nx = 'i'",
        "# language=Net#x\nx = 'i'",
    ],
)
def test_what_comments_do_not_mark(code: str) -> None:
    assert python(code) == []


R_CALLS = {
    "f(netDefinition = 'input')": None,
    "f(net_definition='input')": None,
    "f(x, netDefinition\n =\n 'input', y)": None,
    "m <- f(netDefinition = 'input')": "m",
    "m$fit <- pkg::f(netDefinition = 'input')": "m$fit",
    "net <- 'input'; f(netDefinition = net)": "net",
    "net = 'input'\nf(netDefinition = net)": "net",
    "net <<- 'input'\nf(netDefinition = net)": "net",
    "'input' -> net\nf(netDefinition = net)": "net",
    "cfg$net <- 'input'\nf(netDefinition = cfg$net)": "cfg$net",
    "a <- net <- 'input'\nf(netDefinition = net)": "net",
    "g <- function(x) {\n net <- 'input'\n f(netDefinition = net)\n}": "net",
    "net <- 'input'\ng <- function(x) f(netDefinition = net)": "net",
    "net <- ('input')\nf(netDefinition = net)": "net",
    "net <- trimws('input')\nf(netDefinition = net)": "net",
    "f(netDefinition = paste0('in', \"put\"))": None,
    "f(netDefinition = paste('in', 'put', sep = ''))": None,
    'f(netDefinition = R"---[input]---")': None,
    "net <- 'input' # f(netDefinition = \"other\")\nf(netDefinition = net)": "net",
    "if (x) { f(netDefinition = 'input'": None,
}


@pytest.mark.parametrize("code", R_CALLS)
def test_what_r_calls_take(code: str) -> None:
    (region,) = r(code)
    assert region.text == b"input"
    assert region.name == R_CALLS[code]
    assert region.editable != ("paste" in code)


@pytest.mark.parametrize(
    "code",
    [
        "f(netDefinition = net)",
        "f(definition = 'input')",
        "net <- 'input'\nnet <- 'other'\nf(netDefinition = net)",
        "net <- 'input'\nnet <- paste0(net, 'other')\nf(netDefinition = net)",
        "net <- 'input'\ng <- function(net) f(netDefinition = net)",
        "net <- 'input'\ng <- function(x, net = 1) { f(netDefinition = net) }",
        "g <- function() { net <- 'input' }\nh <- function() { f(netDefinition = net) }",
        "net <- 'input'\nfor (net in x) f(netDefinition = net)",
        "f(netDefinition = sprintf('input', 3))",
        "f(netDefinition = paste0('input', x))",
        "f(netDefinition = paste('a', 'b', sep = x))",
        "f(netDefinition = 'input' %+% 'other')",
        "f(netDefinition = x['input'])",
        "# f(netDefinition = 'input')",
        "\"f(netDefinition = 'input')\"",
    ],
)
def test_what_r_leaves_open(code: str) -> None:
    assert r(code) == []


def test_what_comments_mark_in_r() -> None:
    for code in ("# language=Net#\nx <- 'i'", "f('i') # language=netsharp"):
        (region,) = r(code)
        assert region.text == b"i"
    assert r("# language=R\nx <- 'i'") == []


CALLS = {
    "rx_neural_network(net_definition=N, method='multiClass', num_hidden_nodes=20)": Context(
        task="multiclass", hidden_nodes=20, host="rx"
    ),
    "rx_neural_network(net_definition=N, method='binary')": Context(task="binary", host="rx"),
    "ml.neural_network(net_definition=N, method=chosen)": Context(host="rx"),
    "NeuralNetworkMulticlass(net_definition=N, num_hidden_nodes=n)": Context(
        task="multiclass", host="rx"
    ),
    "rx_neural_network(net_definition=N, num_hidden_nodes=-1)": Context(host="rx"),
    "rx_neural_network(net_definition=N, num_hidden_nodes='20', type=3)": Context(host="rx"),
    "train(net_definition=N, method='multiClass')": Context(),
}


@pytest.mark.parametrize("call", CALLS)
def test_what_a_call_determines(call: str) -> None:
    (region,) = python(f"N = 'input'\n\n{call}\n")
    assert region.context == CALLS[call]
    assert set(region.context.origin) == set(region.context.known())
    assert all(origin.endswith(", line 3") for origin in region.context.origin.values())


def test_calls_that_disagree_tell_what_they_agree_on() -> None:
    calls = "rx_neural_network(net_definition=N, method='binary', num_hidden_nodes={})\n"
    (region,) = python("N = 'input'\n" + calls.format(3) + calls.format(4))
    assert region.context == Context(task="binary", host="rx")


def test_what_a_call_in_r_determines() -> None:
    code = "rxNeuralNet(y ~ x, netDefinition = 'input', type = \"regression\", numHiddenNodes = 7L)"
    (region,) = r(f"\n{code}")
    assert region.context == Context(task="regression", hidden_nodes=7, host="rx")
    assert region.context.origin["task"] == "rxNeuralNet, line 2"


# Evidence.


#: Networks with an unusual beginning, found only where the host marks them.
UNUSUAL = {
    "valid/indexed_constant",
    "valid/mixed_order",
    "valid/odd_case",
    "valid/stray_semicolons",
}


@pytest.mark.parametrize("sample", [one for one in SAMPLES if one.group == "valid"])
def test_whole_networks_are_evident(sample: object) -> None:
    text = sample.text  # type: ignore[attr-defined]
    assert is_evident(text) == (sample.name not in UNUSUAL)  # type: ignore[attr-defined]


ORDINARY = [
    "",
    "input",
    "input X [3];",
    "Please input the data [3]; the output is from all.",
    "input data [1];\nsome prose about what is hidden [in it] from us",
    "SELECT input, output FROM hidden WHERE x = [1];",
    '{"input": [3], "output": "from"}',
    "input: [3]\noutput: from",
    "const x = 1; let y = [3]; // output from here",
    "const int input = 3; output [1];",
    "input X [{size}]; output Y [1] from X all;",
    "input X [{}]; output Y [1] from X all;",
    "input X [%d]; output Y [1] from X all;",
    "input X [3]; output Y [%(n)s] from X all;",
    "input X [$n]; output Y [1] from X all;",
    "input X [3]; output Y [<%= n %>] from X all;",
    "input X [3]; hidden {name} [4] from X all; output Y [1] from X all;",
    "input X [3]; output Y [1];",
    "input.value[0] = output[1]; from x import all;",
    "<input type='hidden'> <output>[3];</output>",
    "module m(input [3:0] a, output [1:0] b); // from all",
    "input [7:0] data; output [3:0] q;",
    "layer { input X [3]; } output Y [1] from X all;",
]


@pytest.mark.parametrize("text", ORDINARY)
def test_ordinary_text_is_not_evident(text: str) -> None:
    assert not is_evident(text.encode())
    assert python(f"x = {text!r}\n") == []
    assert r(f"x <- {json.dumps(text)}\n") == []


def test_no_string_of_the_library_is_evident() -> None:
    for module in (argparse_source(), inspect.getsource(textwrap), inspect.getsource(string)):
        assert find_regions("python", module.encode()) == []
    assert not any(is_evident(str(getattr(builtins, n).__doc__).encode()) for n in dir(builtins))


def argparse_source() -> str:
    import argparse

    return inspect.getsource(argparse)


@pytest.mark.parametrize(
    "code",
    [
        "N = {!r}\n",
        "class A:\n    net = {!r}\n",
        "def f():\n    self.net: str = {!r}\n",
        "N = {!r}\nprint(N)\n",
    ],
)
def test_variables_that_evidently_hold_a_specification(code: str) -> None:
    (region,) = python(code.format(NET))
    assert region.text.decode() == NET


@pytest.mark.parametrize("name", [f"{net!r}" for net in (NET, NET.replace(" X", "\n\tX"))])
def test_hints_reach_through_escapes(name: str) -> None:
    (region,) = python(f"N = {name}\n")
    assert b"".join(region.text.split()) == b"".join(NET.encode().split())


@pytest.mark.parametrize(
    "use",
    ["N.format(1)", "N % 1", "N + x", "x + N", "N += x", "N.replace('a', 'b')", "N.join(x)"],
)
def test_material_is_left_unchanged(use: str) -> None:
    assert python(f"N = {NET!r}\n{use}\n") == []


@pytest.mark.parametrize("use", ["sprintf(N, 1)", "paste0(N, x)", "paste(x, N)", "gsub('a', x, N)"])
def test_material_in_r_is_left_unchanged(use: str) -> None:
    assert r(f"N <- {json.dumps(NET)}\ny <- {use}\n") == []


def test_strings_that_no_variable_holds_are_left_unchanged() -> None:
    assert python(f"print({NET!r})\n") == []
    assert python(f"def f():\n    {NET!r}\n") == []


# Trees that are kept.


def test_a_tree_is_that_of_the_text_whatever_was_read_before() -> None:
    lines = argparse_source().splitlines(keepends=True)[:300]
    for step in range(0, len(lines), 9):
        broken = [*lines[:step], "x = (\n", *lines[step + 3 :]]
        for text in ("".join(broken), "".join(lines)):
            assert read_tree(text).get_code() == text
        code = "".join(lines) + f"N = {NET!r}\nf(net_definition=N)\n"
        assert [region.name for region in python(code)] == ["N"]
