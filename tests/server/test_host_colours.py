"""A specification inside another file is coloured whole by the server, whatever it begins with:
grammars of editors, which see one line at a time, take one that begins with a comment for a string.
"""

from __future__ import annotations

import pytest

from tests.server.wire import serving

# Each takes seconds, or a process of its own.
pytestmark = pytest.mark.costly

#: It begins with comments of both kinds.
NET = """\
// Two layers.
/* The first one
   is the data. */
input Data [3]; # here
const N = 4;
hidden Inner [N] tanh from Data all;
output Result [2] softmax from Inner all; // done
"""

HOSTS = {
    "a.py": ("python", 'import x\nnet = """\n{}"""\n'),
    "b.py": ("python", 'rxNeuralNet(net_definition=r"""\n{}""")\n'),
    "a.R": ("r", 'library (x)\nnet <- "\n{}"\n'),
    "b.R": ("r", 'net <- r"(\n{})"\n'),
    "a.sql": ("sql", "SET @c = N'net <- \"\n{}\"\n';\n"),
    "b.sql": (
        "tsql",
        'EXEC sp_execute_external_script N\'Python\', N\'\nf(net_definition=r"""\n{}""")\'',
    ),
    "a.md": ("markdown", "# Title\n\n```netsharp\n{}```\n\nText.\n"),
}


def coloured(name: str, language: str, text: str) -> list[tuple[str, int, int]]:
    """The words that have a token in a document, each with its kind and modifiers."""
    uri = f"file:///nowhere/{name}"
    with serving({}) as wire:
        wire.open(uri, text, language)
        answer = wire.request("textDocument/semanticTokens/full", {"textDocument": {"uri": uri}})
    lines = text.split("\n")
    found = []
    line = column = 0
    numbers = answer["data"]
    for at in range(0, len(numbers), 5):
        down, right, length, kind, modifiers = numbers[at : at + 5]
        column = right if down else column + right
        line += down
        found.append((lines[line][column : column + length], kind, modifiers))
    return found


@pytest.mark.parametrize("name", HOSTS)
def test_a_specification_in_a_host_has_every_colour_that_it_has_alone(name: str) -> None:
    alone = coloured("net.nn", "netsharp", NET)
    assert [word for word, _, _ in alone[:4]] == [
        "// Two layers.",
        "/* The first one",
        "   is the data. */",
        "input",
    ]
    language, host = HOSTS[name]
    assert coloured(name, language, host.format(NET)) == alone
