"""One mistake, one finding: what people write in place of Net#, and the one message about it."""

from __future__ import annotations

import pytest

from tests.rules.rule_checks import diagnostics, fixed, only, severe

KERNEL = "InputShape = [3]; KernelShape = [2];"
OUTPUT = "output O [2] softmax from H all;"
MISSPELLINGS = [
    ("input A [3] @; output O [2] softmax from A all;", "NS001", "@"),
    ("input A [3] $$; output O [2] softmax from A all;", "NS001", "$$"),
    ("input A [3]]; output O [2] softmax from A all;", "NS001", "]"),
    ("input A [3]; const my-n = 3; output O [2] softmax from A all;", "NS001", "-"),
    ("input A [3]; output O [2] softmax from A all; /* the end", "NS003", "/*"),
    ("input A\u00a0[3]; output O [2] softmax from A all;", "NS006", "\u00a0"),
    ("input Ａ [3]; output O [2] softmax from A all;", "NS006", "Ａ"),
    (f"input A [3]; hidden H [3] tanh from A all; R [2] tanh from H all; {OUTPUT}", "NS010", "R"),
    ("N = 3; input A [N]; output O [2] softmax from A all;", "NS010", "N"),
    ("input A 3]; output O [2] softmax from A all;", "NS012", ""),
    ("input A [3 tanh; output O [2] softmax from A all;", "NS012", ""),
    ("input A [3]; output O [2] softmax from A where (s d) => s[0] == d[0];", "NS012", ""),
    ("input A [3]; output O [2] softmax from A where (s, d) s[0] == d[0];", "NS012", ""),
    ("input A [3]; output O [2] softmax from A where (s, d) => s[0 == d[0];", "NS012", ""),
    ("input A [3]; output O [2] softmax from A where (s, d) => s[0] ==;", "NS012", "=="),
    ("input auto [3]; output O [2] softmax from auto all;", "NS015", "auto"),
    ("input A [3]; output O [2] from A all softmax;", "NS016", "softmax"),
    ("input A [3]; output O [2] from A all { Activation = softmax; }", "NS016", "softmax"),
    (f"input A [3]; hidden H [2] from A convolve {{ {KERNEL} }} tanh; {OUTPUT}", "NS016", "tanh"),
    (f"input A [3]; hidden H [3] form A all; {OUTPUT}", "NS018", "form"),
    (f"input A [3]; hidden H [3] tanh A all; {OUTPUT}", "NS018", ""),
    (f"input A [3]; hidden H [3] tanh {{ A all; }} {OUTPUT}", "NS018", "A"),
    (f"input A [3]; hidden H [3] tanh from all; {OUTPUT}", "NS018", "all"),
    ("input A [3]; output O [2] softmax from A fully connected;", "NS019", "fully connected"),
    ("input A [3]; output O [2] softmax from A max { InputShape = [3]; }", "NS019", "max"),
    ("input A 3; output O [2] softmax from A all;", "NS021", "3"),
    ("input A {3}; output O [2] softmax from A all;", "NS021", "{3}"),
    ("const { N 3; } input A [N]; output O [2] softmax from A all;", "NS022", "N"),
    (f"input A [3]; hidden H [2] tanh from A convolve {{ {KERNEL} Str }} {OUTPUT}", "NS022", "Str"),
    ("const { A [3]; } input B [3]; output O [2] softmax from B all;", "NS026", "A"),
    ("const { N = 3; input A [N]; } output O [2] softmax from A all;", "NS026", "input"),
    (f"hidden {{ N = 3; H [N] tanh from A all; }} input A [3]; {OUTPUT}", "NS026", "N"),
    ("input [3]; output O [2] softmax from A all;", "NS026", "["),
    (f"input A [3]; hidden H [3] tanh from from A all; {OUTPUT}", "NS026", "from"),
    ("input A [3]; output O [3] softmax from A where (s, d) -> s[0] == d[0];", "NS026", "->"),
    ("input A [3]; hidden output O [2] softmax from A all;", "NS027", "hidden"),
    ('input A [3]; output O [2] softmax from A all;")', "NS029", '")'),
]


@pytest.mark.parametrize(("text", "code", "words"), MISSPELLINGS, ids=lambda value: str(value)[:40])
def test_one_misspelling_gives_one_finding(text: str, code: str, words: str) -> None:
    assert severe(text) == [(code, words)]


def test_a_semicolon_forgotten_in_a_group_is_missed_after_the_connection() -> None:
    text = "input A [3]; hidden { G [3] tanh from A all\n H [3] tanh from G all; } " + OUTPUT
    assert fixed(text, "NS011") == text.replace("all\n", "all;\n")


def test_a_missing_bracket_names_the_line_of_its_opener() -> None:
    found = only("input A [3];\noutput O [\n2 softmax from A all;", "NS012")
    assert "opened at line 2" in found.message
    assert [related.message for related in found.related] == ["This '[' is never closed."]


def test_a_closing_brace_goes_on_a_line_of_its_own_as_far_in_as_its_opener() -> None:
    text = (
        "input A [3];\n  hidden {\n    H [3] tanh from A all;\noutput O [2] softmax from H all;\n"
    )
    assert fixed(text, "NS012") == text.replace("all;\noutput", "all;\n  }\noutput")


def test_renaming_a_keyword_reaches_every_use() -> None:
    text = "input all [3]; hidden H [3] tanh from all all; output O [2] softmax from H all;"
    assert fixed(text, "NS015") == text.replace("input all", "input all1").replace(
        "from all all", "from all1 all"
    )


def test_every_lookalike_goes_at_once() -> None:
    text = "input A ［3］; output O ［2］ softmax from A all；"
    assert fixed(text, "NS006") == "input A [3]; output O [2] softmax from A all;"


def test_text_of_another_language_is_one_finding() -> None:
    text = "model = Sequential()\nmodel.add(Dense(64, activation='relu'))\n"
    (found,) = diagnostics(text)
    assert (found.code, found.severity) == ("NS010", "error")


def test_independent_faults_are_all_reported() -> None:
    text = (
        "# net\ninput A (3, 4)\nhidden H [3] relu from A fully;\nouput O [2] from H all sigmoid;\n"
    )
    assert [code for code, _ in severe(text)] == [
        "NS002", "NS021", "NS011", "NS017", "NS019", "NS010", "NS016",
    ]  # fmt: skip
