"""Variables: what is one, where its value comes from, and what happens where it has none."""

from __future__ import annotations

import pytest

from netsharp_lsp.cntk.configuration.variables import LONGEST
from tests.cntk.texts import configuration, kinds, shown

PUT = [
    ("A=$B$\nB=$C$\nC=HelloWorld.txt", "A", "HelloWorld.txt"),
    ('R=r\nN=n\nA="$R$\\$N$.log"', "A", "r\\n.log"),
    ("R=r\nN=n\nA=$R$$N$", "A", "rn"),
    ("r=1\nA=$R$", "A", "1"),
    ("_r=1\nA=$_r$", "A", "1"),
    ("a.b=1\nA=$a.b$", "A", "1"),
    ("a-b=1\nA=$a-b$", "A", "1"),
    ("b=1\nA=$b", "A", "$b"),
    ("b=1\nA=$b c$", "A", "$b c$"),
    ("b=1\nA=$b/c$", "A", "$b/c$"),
    ("b=1\nA=$1$b$", "A", "$11"),
    ("b=1\nA=$$b$", "A", "$$b$"),
    ("A=$$", "A", "$$"),
    ('b=""\nA=x$b$y', "A", "xy"),
    ('b="x y"\nA=$b$', "A", "x y"),
    ("P=$\nQ=1\nA=$P$Q$", "A", "$Q$"),
    ("b=1\nb=2\nA=$b$\nb=3", "A", "3"),
    ("n=3\nt=[ x = [ y = $n$ ] ]", "t.x.y", "3"),
    ("n=3\nt=[ n=4 ; y = $n$ ]", "t.y", "3"),
    ("d=[ x=1 ]\nt=$d$", "t.x", "1"),
    ("s=x=1;y=2\nt=[$s$]", "t.x", "1"),
    ("k=name\nt=[ $k$ = 5 ]", "t.name", "5"),
    ("n=256*2\nA=$n$:512", "A", "256*2:512"),
]


@pytest.mark.parametrize(("text", "path", "value"), PUT)
def test_variables_that_are_there(text: str, path: str, value: str) -> None:
    resolved = configuration(text)
    assert shown(resolved)[path] == value
    assert not kinds(resolved)


HOLES = [
    ("A=$B$", "A", "undefined"),
    ("A=$A$", "A", "cycle"),
    ("A=$B$\nB=$A$", "A", "cycle"),
    ("A=$B$\nB=$A$", "B", "cycle"),
    ("A=$B$\nB=$C$\nC=$B$", "A", "cycle"),
    ("A=$B$\nB=default", "A", "undefined"),
    ("A=$B$\nB=[\nx=1\n]", "A", "newline-in-variable"),
    ("t=[ n=4 ; y = $n$ ]", "t.y", "undefined"),
    ("t=[ y = $n$ ]\ntt=[ n=1 ]", "t.y", "undefined"),
    ("A=$B$\nB=x$C$", "A", "undefined"),
]


@pytest.mark.parametrize(("text", "path", "kind"), HOLES)
def test_variables_without_a_value(text: str, path: str, kind: str) -> None:
    resolved = configuration(text)
    assert shown(resolved)[path] is None
    assert kind in kinds(resolved)


def test_a_hole_leaves_the_rest_of_its_block_alone() -> None:
    resolved = configuration("t = [ a = $n$ ; b = 1 ; u = [ c = 2 ; d = $n$ ] ]")
    tree = shown(resolved)
    assert (tree["t.a"], tree["t.b"], tree["t.u.c"], tree["t.u.d"]) == (None, "1", "2", None)


def test_a_circle_is_reported_with_its_chain() -> None:
    resolved = configuration("A = $B$\nB = x$C$\nC = $a$\n")
    resolved.values()
    (fault,) = resolved.faults
    assert "A -> B -> C -> A" in fault.message
    assert [str(place) for _, place in fault.related] == ["a.cntk:1:5", "a.cntk:2:5", "a.cntk:3:5"]


def test_a_value_that_stands_for_itself_may_be_given_later() -> None:
    text = "command = $command$\n"
    resolved = configuration(text)
    assert "Give 'command' a value" in next(
        fault.message for _ in resolved.values() for fault in resolved.faults
    )
    assert shown(configuration(text, "command=Train")) == {"command": "Train"}


def test_an_argument_defines_for_the_files_before_it() -> None:
    resolved = configuration("Root = one\nlog = $Root$/log\n", "root=two")
    assert shown(resolved) == {"Root": "two", "log": "two/log"}
    log = resolved.values()[1]
    (use,) = log.variables
    assert (use.name, str(use.definition)) == ("Root", "<command line>:2:6")
    assert (log.raw, str(log.origin)) == ("$Root$/log", "a.cntk:2:7")


def test_variables_of_variables_are_reported_too() -> None:
    resolved = configuration("A = $B$\nB = $C$$C$\nC = 1\n")
    assert [use.name for use in resolved.values()[0].variables] == ["B", "C"]


def test_places_after_a_variable_are_right() -> None:
    text = "R = long/path\nt = [ a = $R$/x ; bb = $R$ ; c = $R$/$R$ ; dd = 5 ]\n"
    values = {value.path: value for value in configuration(text).values()}
    line = text.splitlines()[1]
    for path, raw in (("t.a", "$R$/x"), ("t.bb", "$R$"), ("t.c", "$R$/$R$"), ("t.dd", "5")):
        assert values[path].raw == raw
        place = values[path].origin
        assert place.text.decode() == raw
        assert str(place) == f"a.cntk:2:{line.index(f'{path[2:]} = ') + len(path) + 2}"


def test_growth_without_end_is_stopped() -> None:
    bomb = "".join(f"v{n}=$v{n + 1}$$v{n + 1}$\n" for n in range(50)) + f"v50={'x' * 100}\n"
    assert "long" in kinds(configuration(bomb))
    nothing = "".join(f"v{n}=$v{n + 1}$$v{n + 1}$\n" for n in range(40)) + 'v40=""\n'
    assert shown(configuration(nothing))["v0"] == ""
    assert LONGEST > 1_000_000


def test_a_long_chain_of_variables_is_followed() -> None:
    chain = "".join(f"v{n}=$v{n + 1}$\n" for n in range(3000)) + "v3000=1\n"
    resolved = configuration(chain)
    assert set(shown(resolved).values()) == {"1"}
    assert not kinds(resolved)


def test_a_long_circle_is_reported() -> None:
    circle = "".join(f"v{n}=$v{(n + 1) % 500}$\n" for n in range(500))
    resolved = configuration(circle)
    assert set(shown(resolved).values()) == {None}
    assert kinds(resolved) == ["cycle"]


@pytest.mark.costly
def test_values_that_grow_with_each_variable_are_stopped() -> None:
    growth = "".join(f"v{n}=xxxxxxxxx$v{n + 1}$\n" for n in range(6000)) + "v6000=1\n"
    assert "long" in kinds(configuration(growth))
