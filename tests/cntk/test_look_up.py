"""Repeated keys, records inside records, and who finds what."""

from __future__ import annotations

import pytest

from netsharp_lsp.cntk.configuration.meaning.commands import command, commands, effective
from tests.cntk.texts import configuration, shown

REPEATED = [
    ("p=1\np=2", {"p": "2"}),
    ("P=1\np=2", {"P": "2"}),
    ("p=[a=1;b=2;c=3]\np=[c=5;d=6;e=7]", {"a": "1", "b": "2", "c": "5", "d": "6", "e": "7"}),
    ("p={a=1}\np={b=2}", {"b": "2"}),
    ("p={a=1}\np=[b=2]", {"a": "1", "b": "2"}),
    ("p=[a=1]\np={b=2}", {"b": "2"}),
    ("p=[a=[x=1;y=2]]\np=[a=[y=3]]", {"a.x": "1", "a.y": "3"}),
    ("p=[a={x=1;y=2}]\np=[a={y=3}]", {"a.y": "3"}),
    ("p=[a=1:2:3]\np=[a=4]", {"a": "4"}),
    ("p=1 2\np=[a=1]", {"1 2": "[a=1]"}),
    ('p=""\np=[a=1]', {"a": "1"}),
]


@pytest.mark.parametrize(("text", "inside"), REPEATED)
def test_a_key_given_again(text: str, inside: dict[str, str]) -> None:
    resolved = configuration(text)
    found = resolved.get("p")
    assert found is not None
    if list(inside) in (["p"], ["P"]):
        assert shown(resolved) == inside
        return
    for path, value in inside.items():
        leaf = resolved.get(f"p.{path}", climb=False)
        assert leaf is not None
        assert leaf.text.text.decode() == value
    keys = {entry.key.decode() for entry in resolved.root.inside(found)}
    assert keys == {path.partition(".")[0] for path in inside}


def test_the_history_of_a_key() -> None:
    text = "p=[a=1]\np={a=2}\np=[a=3;b=4]\n"
    values = {value.path: value for value in configuration(text).values()}
    assert str(values["p"].origin) == "a.cntk:2:3"
    assert [str(one.value) for one in values["p"].overridden] == ["a.cntk:1:3"]
    assert str(values["p.a"].origin) == "a.cntk:3:6"
    assert [str(one.value) for one in values["p.a"].overridden] == ["a.cntk:2:6"]
    assert [one.appends for one in values["p"].entry.assignments] == [False, False, True]


CLIMBS = [
    ("x=1\nt=[u=[y=2]]", "t.u.x", "1"),
    ("x=1\nt=[x=3;u=[y=2]]", "t.u.x", "3"),
    ("X=1\nT=[u=[y=2]]", "t.U.x", "1"),
    ("r=[f=1]\nx=1\nt=[x=2;u=[y=2]]", "t.u.r.x", "2"),
    ("r=[f=$x$]\nx=1\nt=[x=2;u=[y=2]]", "t.u.r.f", "1"),
]


@pytest.mark.parametrize(("text", "path", "value"), CLIMBS)
def test_look_up_climbs_from_the_block_that_asked(text: str, path: str, value: str) -> None:
    resolved = configuration(text)
    found = resolved.get(path)
    assert found is not None
    assert found.text.text.decode() == value
    assert resolved.get(path, climb=False) is None
    assert resolved.get(f"{path}x") is None


COMMANDS = [
    (
        "command=A:B\nA=[action=train]\nB=[action=test:write]",
        {"A": ["train"], "B": ["test", "write"]},
    ),
    ("command=A\naction=test\nA=[x=1]", {"A": ["test"]}),
    ("train=[x=1]", {"train": ["train"]}),
    ("command=default\ntrain=[x=1]", {"train": ["train"]}),
    ("command=(a)\nA=[x=1]", {"a": ["train"]}),
    ("command=A:none\nA=[x=1]", {"A": ["train"], "none": []}),
]


@pytest.mark.parametrize(("text", "expected"), COMMANDS)
def test_commands_and_actions(text: str, expected: dict[str, list[str]]) -> None:
    found = commands(configuration(text))
    assert {one.name: list(one.actions) for one in found} == expected


def test_what_holds_for_a_command() -> None:
    resolved = configuration(
        "command = T\nmodelPath = m\nminibatchSize = 32\nunread = 1\nverbosity = 2\n"
        "reader = [ file = f ]\nT = [ action = train ; SGD = [ maxEpochs = 1 ] ]\n"
    )
    rows = effective(resolved, command(resolved, "t"))
    assert {row.value.path: (row.value.value, row.inherited_from) for row in rows} == {
        "T": ("[ action = train ; SGD = [ maxEpochs = 1 ] ]", None),
        "T.action": ("train", None),
        "T.SGD": ("[ maxEpochs = 1 ]", None),
        "T.SGD.maxEpochs": ("1", None),
        "T.modelPath": ("m", "modelPath"),
        "T.reader": ("[ file = f ]", "reader"),
        "T.reader.file": ("f", "reader.file"),
        "T.SGD.minibatchSize": ("32", "minibatchSize"),
        "T.SGD.modelPath": ("m", "modelPath"),
        "T.reader.verbosity": ("2", "verbosity"),
    }


def test_an_option_may_say_default() -> None:
    root = configuration("a = default\nb = 2\nt = [ b = default ]\n").root
    assert root.option(b"a", "1") == "1"
    assert root.option(b"B", "1") == "2"
    inner = root.block(b"t")
    assert inner is not None
    assert inner.option(b"b", "3") == "3"


def test_networks_are_no_records() -> None:
    text = "NDLNetworkBuilder=[run=net]\nnet=[x=1]\nother=[x=1]\nBrainScriptNetworkBuilder=[a=1]\n"
    assert set(shown(configuration(text))) == {
        "NDLNetworkBuilder",
        "NDLNetworkBuilder.run",
        "net",
        "other",
        "other.x",
        "BrainScriptNetworkBuilder",
    }


def test_blocks_that_nest_without_end_are_not_opened() -> None:
    resolved = configuration("a=[" * 500 + "]" * 500)
    assert len(resolved.values()) == 60
    assert [fault.kind for fault in resolved.faults] == ["empty-value", "deep"] or "deep" in {
        fault.kind for fault in resolved.faults
    }
