"""What would take for ever or all memory is given up soon, with one fault that says so."""

from __future__ import annotations

import pytest

from netsharp_lsp.cntk.brainscript.analysis.program import analysed, library_of, nothing_included
from netsharp_lsp.cntk.brainscript.evaluation.evaluator import LONGEST_TEXT
from netsharp_lsp.cntk.brainscript.evaluation.program import evaluate_file
from netsharp_lsp.cntk.brainscript.reading.parser import parse
from netsharp_lsp.cntk.library import own_library
from netsharp_lsp.limits import EVALUATION_STEPS
from tests.cntk.brainscript.building import SOURCE, around, fault, value
from tests.costs import within

#: A loaded machine takes longer than the few seconds that a person waits.
SECONDS = 60

#: Members that grow, with the kind of fault that ends them.
ENDLESS = {
    "calls without end": ("f (0) ; f (a) = f (a + 1)", "too-deep"),
    "calls of each other": ("f (0) ; f (a) = 1 + g (a) ; g (a) = 1 + f (a)", "too-much"),
    "two calls for each": (
        "f (60) ; f (n) = if n < 2 then n else f (n - 1) + f (n - 2)",
        "too-much",
    ),
    "functions of functions": (
        "t (t) (t) (t) (n => n + 1) (0) ; t (f) = (n => f (f (n)))",
        "too-deep",
    ),
    "a list for ever": ("new TensorShape { dims = Repeat (1000000000, 3) }", "too-much"),
    "a text that doubles": (
        "f ('x', 60) ; f (s, n) = if n == 0 then s else f (s + s, n - 1)",
        "too-long",
    ),
    "a text that is replaced": (
        "f (60) ; f (n) = if n == 0 then 'ab' else Replace (f (n - 1), 'a', 'aa' + f (n - 1))",
        "too-long",
    ),
    "an array of arrays": (
        "TensorShape (a40) ; TensorShape (a) = new TensorShape { dims = a } ; a0 = (1:2) ; "
        + " ; ".join(f"a{n + 1} = [| a{n} ; a{n} |]" for n in range(40)),
        "too-much",
    ),
    "a text of arrays": (
        "Format (a40, '') ; a0 = (1:2) ; "
        + " ; ".join(f"a{n + 1} = [| a{n} ; a{n} |]" for n in range(40)),
        "too-long",
    ),
    "a text of an array that holds itself": ("Format (a, '') ; a = [| 1 ; a |]", "too-deep"),
    "an array as long as memory": ("array[0..1000000000] (i => i)", "too-long"),
}


@pytest.mark.parametrize("name", ENDLESS)
@pytest.mark.costly
def test_what_has_no_end_is_given_up(name: str) -> None:
    text, expected = ENDLESS[name]
    kind, _ = within(SECONDS, lambda: fault(f"x = {text}"))
    assert kind == expected


def test_what_is_long_but_ends_is_evaluated() -> None:
    total = "f (1000) ; f (n) = if n == 0 then 0 else n + f (n - 1)"
    assert value(f"x = {total}") == 1000 * 1001 / 2
    text = "Length (f (300)) ; f (n) = if n == 0 then '' else f (n - 1) + 'ab'"
    assert value(f"x = {text}") == 600.0
    assert LONGEST_TEXT >= 100_000
    assert EVALUATION_STEPS.most >= 1_000_000


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("Length ((1:2) << (1 / 0))", "kind"),
        ("Length ((1:2) << (0 / 0))", "kind"),
        ("Chr (1 / 0)", "kind"),
        ("Chr (0 / 0)", "kind"),
        ("Mod (1 / 0, 3)", "kind"),
    ],
)
def test_what_is_no_finite_number_is_no_whole_one(text: str, kind: str) -> None:
    assert fault(f"x = {text}")[0] == kind


def test_infinity_has_no_whole_part_but_itself() -> None:
    assert value("x = new NumericFunction { what = 'Floor' ; arg = 1 / 0 }") == float("inf")


@pytest.mark.parametrize("sign", ["+", "*", "-", "!", "=>", "/*", "&&"])
def test_operators_without_end_are_no_expression(sign: str) -> None:
    text = f"x = 1 {f'{sign} 1 ' * 5_000}".encode()
    found = evaluate_file(text, SOURCE, around())
    assert found.network is None or not found.network.nodes
    analysed(parse(text, SOURCE), library_of(own_library()), nothing_included)
