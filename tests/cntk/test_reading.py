"""The syntax of configurations as values."""

from __future__ import annotations

import pytest

from netsharp_lsp.cntk.reading.reader import read
from netsharp_lsp.cntk.reading.syntax import (
    DEEPEST,
    Assignment,
    Block,
    Builder,
    BuilderText,
    ConfigurationCall,
    Flag,
    List,
    Macro,
    Named,
    Stray,
    String,
    Text,
)

TEXT = """\
# head
command = Train:Test # note
SGD [ lr = 0.1*3:0.2; x=1, flag ]
stderr=
p = "$Root$\\\\$Run$.log"
a = (1:2:[b=1]:f(x, init=y))
BrainScriptNetworkBuilder = {
  z = 1 // x
}
n = [
  FF(x,y) = [ a = Times(x,y) ]
  G(x) { a = x }
]
]
"""


def test_every_kind_of_record() -> None:
    document = read(TEXT.encode())
    kinds = [type(record) for record in document.records]
    assert kinds == [*[Assignment] * 5, Builder, Assignment, Stray]
    names = [record.name.text for record in document.records if isinstance(record, Assignment)]
    assert names == ["command", "SGD", "stderr", "p", "a", "BrainScriptNetworkBuilder", "n"]
    assert [TEXT.encode()[note.start : note.end] for note in document.comments] == [
        b"# head",
        b"# note",
    ]


def test_values_as_they_are_written() -> None:
    values = {
        record.name.text: record.value
        for record in read(TEXT.encode()).all_records()
        if isinstance(record, Assignment)
    }
    command, lr, path = values["command"], values["lr"], values["p"]
    assert isinstance(command, Text)
    assert command.text == "Train:Test"
    assert isinstance(lr, Text)
    assert lr.text == "0.1*3:0.2"
    assert isinstance(path, String)
    assert (path.text, path.closed) == ("$Root$\\\\$Run$.log", True)
    assert values["stderr"] is None
    builder = values["BrainScriptNetworkBuilder"]
    assert isinstance(builder, BuilderText)
    assert builder.text == "{\n  z = 1 // x\n}"


def test_blocks_lists_and_calls() -> None:
    (record,) = read(b"a = (1:2:[b=1]:f(x, init=y))").records
    assert isinstance(record, Assignment)
    assert isinstance(record.value, List)
    one, two, block, call = record.value.elements
    assert isinstance(one, Text)
    assert isinstance(two, Text)
    assert isinstance(block, Block)
    assert block.opening == "["
    assert len(block.records) == 1
    assert isinstance(call, ConfigurationCall)
    assert call.function.text == "f"
    x, init = call.arguments.elements
    assert isinstance(x, Text)
    assert isinstance(init, Named)
    assert init.name.text == "init"


def test_macros_and_flags() -> None:
    records = list(read(TEXT.encode()).all_records())
    macros = [record for record in records if isinstance(record, Macro)]
    assert [macro.name.text for macro in macros] == ["FF", "G"]
    assert [len(macro.parameters.elements) for macro in macros] == [2, 1]
    assert all(isinstance(macro.body, Block) for macro in macros)
    assert sum(isinstance(record, Flag) for record in records) == 1


GAPS = [
    (b"a = [ b=1 }", ["]"]),
    (b"a = [ b=1", ["]"]),
    (b"a = { b=(1 }", [")"]),
    (b"a = [ b=1 ]", []),
]


@pytest.mark.parametrize(("text", "expected"), GAPS)
def test_gaps_among_brackets(text: bytes, expected: list[str]) -> None:
    gaps = read(text).gaps
    assert [gap.expected for gap in gaps] == expected
    assert all(text[gap.opening : gap.opening + 1] in (b"[", b"{", b"(") for gap in gaps)


def test_brackets_without_end_are_read_to_a_depth() -> None:
    document = read(b"a=[" * 5000)
    assert sum(1 for _ in document.all_records()) == DEEPEST + 1
