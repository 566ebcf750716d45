"""The rules on texts of configurations in their variants: what they report, and where not."""

from __future__ import annotations

import pytest

from netsharp_lsp.cntk.checking.check import diagnostics_by_file
from netsharp_lsp.cntk.run.experiment import Experiment
from netsharp_lsp.workspace import Premises, Run
from tests.cntk.rules.reporting import NAME, diagnostics, fixed, message, reported, severities
from tests.cntk.texts import Memory

BASE = "d = 1\n"
#: A network around a piece of BrainScript.
NETWORK = "T = {{ BrainScriptNetworkBuilder = {{ {} }} }}\n"

REPORTED: list[tuple[str, list[tuple[str, str]]]] = [
    # Brackets.
    ("A = {\n B = {\n  x = 1\n }\n", [("CK003", "{")]),
    ("A = {\n  B = (\n    x = 1\n  C = (\n  )\n)\nD = (\n)\n", [("CK003", "(")]),
    ("A = [ b = (1:2 ]\nc = 3\n", [("CK004", "]")]),
    ("A = [ x = 1 }\n", [("CK004", "}")]),
    ("a = 1\n]\n", [("CK006", "]")]),
    ("a = 1\n} )\nb = 2\n", [("CK006", "} )")]),
    ("a = {b=1}}\nc = 2\n", [("CK006", "}")]),
    ("a = 1 }\n", [("CK006", "}")]),
    ("a = (1:2)\nb = {c=1} ; d = [e=2]\n", []),
    # Strings.
    ('a = "x\nb = "y"\n', [("CK005", '"')]),
    ('a = "x\nb = "y\nc = 1\n', [("CK005", '"')]),
    ('A = {\n a = "x\n b = 1\n}\n', [("CK005", '"')]),
    ('a = "x\ny z"\nb = 1\n', []),
    ('a = "x #y"\nb = "z"\n', [("CK010", '#y"')]),
    ('a = "x#y"\n', []),
    ('a = "x" # "y"\n', []),
    # Comments.
    ("a = 1#INF\n", []),
    ("a = 1#INF # note\n", [("CK009", "# note")]),
    ("a = 1# note\n", [("CK009", "# note")]),
    ("a = {\n b = 1\n}# end\n", [("CK009", "# end")]),
    ("a = dir/C#/b\n", []),
    ("// words here\na = 1\n", [("CK011", "//")]),
    ("a = 1 // note\n", [("CK011", "//")]),
    ("/* a */\nb = 1\n", [("CK011", "/*")]),
    ('a = http://x/y\nb = //server/share\nc = "x // y"\n', []),
    (NETWORK.format("x = 1 // note\n y = 2"), []),
    # What belongs to a value.
    ('a = 10:"x":1.25\n', [("CK007", ":1.25")]),
    ('a = "x":"y":"z"\n', [("CK007", ':"y":"z"')]),
    ('f = "$D$"/x.txt\nD=1\n', [("CK007", "/x.txt")]),
    ("a = (1:2) x\n", [("CK007", "x")]),
    ('a = "x" b = "y"\nc = {d=1} e = {f=2}\n', []),
    ("a =\nb = 1\n", [("CK008", "a")]),
    ("A =\n{\n b = 1\n}\n", [("CK008", "A")]),
    ("A\n{\n b = 1\n}\n", [("CK037", "A")]),
    ("A {\n b = 1\n}\n", []),
    ('a = ""\n', []),
    ("a = 1:2:\n 3:4\n", [("CK037", "3:4")]),
    ("a = 1:2\n :3:4\n", [("CK037", ":3:4")]),
    ("a = 1 b = 2\n", [("CK038", "b")]),
    ("a = f(x y = 2)\n", []),
    ("a 10\n", [("CK035", "a 10")]),
    ("a:10\n", [("CK035", "a:10")]),
    ("a = 0.02,0.01,0.005\n", [("CK120", "0.01,0.005")]),
    ("A = [ a = 1:2*3 , 0.5 ; b = 1,c ]\n", [("CK120", "0.5")]),
    ("a = 50,000\n", [("CK120", "000")]),
    ("a = 1 # x, 2\nb = (1:2),c=3\nd = x,1\ne = 1\n2\n", []),
    ("n = 1\na = $n$,2\nb = 1,$n$\n", []),
    (NETWORK.format("x = 1,2"), []),
    ("useMersenneTwister\n", []),
    ("A = [\n ...\n]\n", [("CK034", "...")]),
    # Separators.
    ("a = (-1)\n", [("CK033", "-")]),
    ("a = (-1:-2)\n", [("CK033", "-")]),
    ("a = (.5:.25)\n", [("CK033", ".")]),
    ("a = 0.1*3:(-1)\n", [("CK033", "-")]),
    ("A = {_b=1 ; c=2}\n", [("CK033", "_")]),
    ("a = (~/x)\n", [("CK033", "~")]),
    ("a = ( -1)\nb = (;c:\\x;d:\\y)\nc = (../x:./y)\nd = (|x|y)\n", []),
    # Repetition.
    ("a = 1\na = 2\n", [("CK031", "a")]),
    ("p={a=1;a=2}\n", [("CK031", "a")]),
    ("p={a=1;b=2}\np={b=3}\n", [("CK030", "p")]),
    ("p=[a=1]\np={b=2}\n", [("CK030", "p")]),
    ("p={a=1;b=2}\np={a=2;b=3}\n", [("CK031", "p")]),
    ("p={a=1}\np=[b=2]\n", []),
    ("p=[a=1;b=2;c=3]\np=[c=5;d=6;e=7]\n", []),
    # Variables.
    ("a = $x$\nb = $X$\n", [("CK019", "$x$")]),
    ("x = default\na = $x$\n", [("CK019", "$x$")]),
    ("a = $a$\n", [("CK019", "$a$")]),
    ("a = $b$\nb = $a$\n", [("CK020", "$a$")]),
    ("A = { x = 1 ; b = $x$ }\n", [("CK021", "$x$")]),
    ("A = { x = 1 ; B = { b = $x$ } }\n", [("CK021", "$x$")]),
    ("x=1\nA = { x = 2 ; b = $x$ }\n", [("CK022", "$x$")]),
    ("x=1\nA = { x = $x$/2 ; b = $x$ }\n", [("CK022", "$x$")]),
    ("x=1\nA = { x = $x$/2 ; b = 3 }\n", []),
    ("x=1\nA = { x = 1 ; b = $x$ }\n", []),
    ("A = { x = $x$ }\n", [("CK019", "$x$")]),
    ("A = {\n b = 1\n}\nc = $A$\n", [("CK023", "$A$")]),
    ("a = $$x$$\n", [("CK024", "$$")]),
    ("a = $5\n", [("CK024", "$")]),
    ("a = ${x}\n", [("CK024", "$")]),
    ("a = $x y$\n", [("CK024", "$")]),
    ('a = "x" # costs $5\n', []),
    # Includes.
    ("include=base.cntk\n", []),
    ("include=none.cntk\n", [("CK012", "none.cntk")]),
    ('include="base.cntk"\n', [("CK012", '"base.cntk"')]),
    ("include=base.cntk # note\n", [("CK012", "base.cntk ")]),
    ("include=$x$.cntk\n", [("CK025", "$x$.cntk")]),
    ("include=base.cntk\ninclude=base.cntk\n", [("CK026", "include=base.cntk")]),
    ("include=a.cntk\n", [("CK027", "include=a.cntk")]),
    (" include=base.cntk\n", [("CK028", " include=base.cntk")]),
    ("Include = base.cntk\n", [("CK028", "Include = base.cntk")]),
    ("includePath = base.cntk\nx = include\n", []),
    # Networks within, and those that are turned off.
    ("BrainScriptNetworkBuilder_off = [\n x = y (1) - 2 // z\n x = if a\n then b\n]\n", []),
    (NETWORK.format("x = 1 // a)\n"), [("CK036", ")")]),
    (NETWORK.format("x = 'a('"), [("CK036", "(")]),
    (NETWORK.format("x = '\"'"), [("CK036", '"')]),
    (NETWORK.format("x = 1 /* ( */"), [("CK036", "(")]),
    (NETWORK.format("x = 1 // (a)\n"), []),
    (NETWORK.format("x = 1 # (\n"), []),
    (NETWORK.format("x = 1 // don't\n"), []),
]


@pytest.mark.parametrize(("text", "expected"), REPORTED, ids=[text for text, _ in REPORTED])
def test_a_text_gives(text: str, expected: list[tuple[str, str]]) -> None:
    own = [one for one in reported(text, base=BASE) if one[0].startswith("CK")]
    assert own == expected


FIXED = [
    (
        "A = {\n  B = {\n    x = 1\n  C = {\n  }\n}\nD = {\n}\n",
        "CK003",
        "A = {\n  B = {\n    x = 1\n  C = {\n  }\n  }\n}\nD = {\n}\n",
    ),
    ("A = {\n a = 1\n", "CK003", "A = {\n a = 1\n}\n"),
    ("A = [ b = (1:2 ]\n", "CK004", "A = [ b = (1:2 ) ]\n"),
    ("A = [ x = 1 }\n", "CK004", "A = [ x = 1 ]\n"),
    ('a = "x\nb = 1\n', "CK005", 'a = "x"\nb = 1\n'),
    ("a = 1\n]\n", "CK006", "a = 1\n\n"),
    ('a = 10:"x":1.25\n', "CK007", 'a = (10:"x":1.25)\n'),
    ("A =\n{ b = 1 }\n", "CK008", "A = { b = 1 }\n"),
    ("  a = 1#INF # note\n", "CK009", "  # note\n  a = 1#INF\n"),
    ("a = 1# note\n", "CK009", "a = 1 # note\n"),
    ("a = 1 // note\n", "CK011", "a = 1 # note\n"),
    ('include="base.cntk"\n', "CK012", "include=base.cntk\n"),
    ("include=base.cntk # note\n", "CK012", "# note\ninclude=base.cntk\n"),
    ("a = 1\rb = 2\r\nc = 3\r", "CK013", "a = 1\nb = 2\r\nc = 3\n"),
    ("Root = 1\na = $Rot$\n", "CK019", "Root = 1\na = $Root$\n"),
    ("include=base.cntk\ninclude=base.cntk\n", "CK026", "include=base.cntk\n"),
    (" include = 'x'\n", "CK028", "include='x'\n"),
    ("a = (-1)\n", "CK033", "a = ( -1)\n"),
    ("a: 10\n", "CK035", "a = 10\n"),
    ("a = 0.2 , 0.1,.05\n", "CK120", "a = 0.2:0.1:.05\n"),
    (NETWORK.format("x = 'a('"), "CK036", NETWORK.format('x = "a("')),
    ("a = 1:\n  2\n", "CK037", "a = 1:2\n"),
    ("A\n{ b = 1 }\n", "CK037", "A = { b = 1 }\n"),
    ("a = 1 b = 2\n", "CK038", "a = 1 ; b = 2\n"),
]


@pytest.mark.parametrize(("text", "code", "expected"), FIXED, ids=[code for _, code, _ in FIXED])
def test_a_fix_gives(text: str, code: str, expected: str) -> None:
    assert fixed(text, code, base=BASE) == expected


@pytest.mark.parametrize(
    ("text", "expected", "safe"),
    [
        # A layer over others may have to add to their blocks.
        ("A = [ x = 1 ]\n", "A = { x = 1 }\n", False),
        (
            "command = A\nA = [ x = [ y = 1 ] ; z = { w = [ v = 1 ] } ]\n",
            "command = A\nA = { x = { y = 1 } ; z = { w = { v = 1 } } }\n",
            True,
        ),
        # What adds to a block must stay as it is, whatever the first was written in.
        (
            "A = [ y = [ w = 1 ] ]\nA = [ y = [ v = 1 ] ; z = [ u = 1 ] ]\n",
            "A = { y = { w = 1 } }\nA = [ y = [ v = 1 ] ; z = [ u = 1 ] ]\n",
            False,
        ),
    ],
)
def test_brackets_become_braces_where_nothing_is_added(
    text: str, expected: str, safe: bool
) -> None:
    assert fixed(text, "CK032") == expected
    (one,) = [one for one in diagnostics(text)["a.cntk"] if one.code == "CK032"]
    assert one.fix is not None
    assert one.fix.safe == safe
    assert [one for one in diagnostics(expected).get("a.cntk", []) if one.code == "CK032"] == []


@pytest.mark.parametrize("text", ["a = $x$\n", "A = { x = 1 ; b = $x$ }\n", "a = $a$\n"])
def test_variables_are_errors_only_in_a_declared_run(text: str) -> None:
    assert set(severities(text).values()) <= {"info", "warning"}
    assert set(severities(text, declared=True).values()) == {"error"}


def test_a_run_gives_values() -> None:
    assert reported("a = $a$\nb = $x$\n", "a=1", "x=2", declared=True) == []


def test_strings_are_errors_only_where_quotes_do_not_fit() -> None:
    assert severities('a = "x\nb = "y\n')["CK005"] == "warning"
    assert severities('a = "x\nb = "y"\n')["CK005"] == "error"


def test_layers_may_override() -> None:
    over = {"over": "a = 2\np = [ c = 3 ]\n"}
    assert reported("a = 1\np = { b = 1 }\n", "configFile=over.cntk", **over) == []


def test_a_layer_in_braces_loses_the_keys_of_the_block_before() -> None:
    found = diagnostics("p = { b = 1 ; c = 2 }\n", "configFile=over.cntk", over="p = { c = 3 }\n")
    (one,) = found["over.cntk"]
    assert one.code == "CK030"
    assert "a.cntk:1: 'b' is lost" in one.message


def test_a_command_line_in_braces_is_reported_at_the_block_that_it_replaces() -> None:
    assert reported("p = { b = 1 }\n", "p={c=3}", declared=True) == [("CK030", "p")]
    assert reported("p = { b = 1 }\n", "p=[c=3]", declared=True) == []


def test_a_file_that_the_run_names_twice() -> None:
    (one,) = diagnostics("a = 1\n", "configFile=a.cntk", declared=True)["a.cntk"]
    assert (one.code, one.start, one.end) == ("CK029", 0, 0)


def test_files_that_are_not_there_are_reported_at_the_first_that_is() -> None:
    (one,) = diagnostics("a = 1\n", "configFile=b.cntk", declared=True)["a.cntk"]
    assert (one.code, "b.cntk" in one.message) == ("CK012", True)


def test_included_files_carry_their_own_findings() -> None:
    found = diagnostics("include=base.cntk\n", base="x = $y$\n\na = 1 }\n")
    assert [(one.code, one.start) for one in found["base.cntk"]] == [("CK019", 4), ("CK006", 15)]


def test_messages_name_partners_and_ways_out() -> None:
    assert "'[' of 'A', which was opened on line 1" in message("A = [\n x = 1\n}\n", "CK004")
    assert "on line 2, and 'b =' is part of it" in message('a = "x\nb = "y\n', "CK005")
    assert "Did you mean '$Root$'" in message("Root = 1\na = $Rot$\n", "CK019")
    assert "Root -> Out -> Root" in message("Root = $Out$\nOut = $Root$\n", "CK020")
    assert "is '1' here, not the value of line 2" in message(
        "x=1\nA = {\n x = 2 ; b = $x$ }\n".replace("{\n", "{"), "CK022"
    )


def test_a_record_in_quotes_includes_nothing_and_is_not_read() -> None:
    expected = [("CK028", '"include=base.cntk"'), ("CK005", '"')]
    assert reported('"include=base.cntk"\n', base=BASE) == expected


def test_variables_that_double_each_other_are_not_followed_for_ever() -> None:
    lines = ["a0 = xxxxxxxx", *(f"a{n} = $a{n - 1}$/$a{n - 1}$" for n in range(1, 24))]
    found = diagnostics("\n".join(lines) + "\n")["a.cntk"]
    assert {one.code for one in found} == {"CK018"}


def test_files_that_include_each_other_too_deep_are_not_followed() -> None:
    files = {f"f{n}": f"include=f{n + 1}.cntk\n" for n in range(120)}
    found = diagnostics("include=f0.cntk\n", **files)
    assert [(file, one.code) for file, listed in found.items() for one in listed] == [
        ("f99.cntk", "CK039")
    ]


def test_variables_that_others_define_are_not_reported() -> None:
    memory = Memory({"a.cntk": b"a = $DataDir$/$Root$/$Other$\n"})
    run = Run(("configFile=a.cntk",), unknown=("root",), declared=False)
    found = diagnostics_by_file(Experiment(run, memory, given=Premises(frozenset({"datadir"}))))
    assert [one.message.split("'")[1] for one in found["a.cntk"]] == ["Other"]


def test_lost_numbers_are_counted_and_digits_in_groups_get_no_fix() -> None:
    reported = message("a = 0.02,0.01,0.005\n", "CK120")
    assert "'a' is 0.02, and the 2 numbers after it are read as keys" in reported
    assert "Write '0.02:0.01:0.005' for an array." in reported
    reported = message("a = 50,000\n", "CK120")
    assert "'a' is 50, and the number after it is read as a key" in reported
    assert reported.endswith("Write '50:000' for an array, or '50000' for one number.")
    (one,) = diagnostics("a = 50,000\n")[NAME]
    assert one.fix is None
    assert severities("a = 1,2\n") == {"CK120": "warning"}
