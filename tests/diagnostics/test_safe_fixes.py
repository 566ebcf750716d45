"""Fix All applies no guess: where a safe fix has been, no new error appears."""

from __future__ import annotations

import json
import pathlib
import random
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from difflib import SequenceMatcher
from functools import partial

import pytest

from netsharp_lsp.context import Context
from netsharp_lsp.diagnostics.fixes import fix_all, fix_texts
from netsharp_lsp.diagnostics.model import Diagnostic, Edit, Fix
from netsharp_lsp.diagnostics.selection import Selection
from netsharp_lsp.examining import examine
from netsharp_lsp.language import language_by_id
from netsharp_lsp.text.decode import Source, decode, decode_legacy
from netsharp_lsp.text.lines import LineIndex
from tests.cli.command_line import netsharp
from tests.cntk.collection import FILES
from tests.costs import assert_in_proportion

CORPUS = pathlib.Path(__file__).parent.parent / "corpus"
LANGUAGE = language_by_id("netsharp")
#: Reported of the network as a whole once all of the text is parsed.
OF_ALL = ("NS051", "NS052")
#: Longer texts say nothing new.
LONGEST = 3000
TOKEN = re.compile(rb"\w+|\s+|[^\w\s]")
WORD = re.compile(rb"\w+|[^\w\s]")
TUPLE = re.compile(rb"\[[^\[\]]*\]")
WORDS = (
    b"const input hidden output share from all where convolve max pool response norm auto true "
    b'X 3 1.5 0 -1 { } [ ] ( ) , ; = => == < + * : . # @ "same" relu dropout'
).split()


def texts() -> dict[str, bytes]:
    found = {}
    for path in sorted(CORPUS.rglob("*.nn")):
        source = decode(path.read_bytes())
        if isinstance(source, Source):
            found[f"{path.parent.name}-{path.stem}"] = source.text
    return found


TEXTS = texts()


def check(text: bytes) -> list[Diagnostic]:
    return examine(LANGUAGE, LineIndex(text), Context(), Selection())


def errors(diagnostics: list[Diagnostic]) -> Counter[tuple[str, str]]:
    return Counter((d.code, d.message) for d in diagnostics if d.severity == "error")


def changed(before: bytes, after: bytes) -> Iterator[tuple[int, int]]:
    """The spans of a text that were written, by its tokens."""
    old, new = TOKEN.findall(before), TOKEN.findall(after)
    starts = [0]
    for token in new:
        starts.append(starts[-1] + len(token))
    for what, _, _, first, last in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if what != "equal":
            while first < last and new[first].isspace():
                first += 1
            while first < last and new[last - 1].isspace():
                last -= 1
            if new[first:last] != [b";"]:  # It parts two statements and says nothing of either.
                yield starts[first], starts[last]


def guesses(
    text: bytes, check: Callable[[bytes], list[Diagnostic]] = check
) -> list[tuple[str, str]]:
    """The errors that Fix All has made where it wrote."""
    fixed = fix_all(text, check)
    new = errors(list(fixed.diagnostics)) - errors(check(text))
    spans = list(changed(text, fixed.text)) if new else []
    return [
        (d.code, d.message)
        for d in fixed.diagnostics
        if (d.code, d.message) in new
        and d.code not in OF_ALL
        and any(d.start <= b and a <= d.end for a, b in spans)
    ]


def damaged(text: bytes, source: random.Random) -> bytes:
    """A text with a token lost, doubled, replaced, put in, or a tuple of another length."""
    start, end = source.choice([match.span() for match in WORD.finditer(text)])
    word = source.choice(WORDS)
    tuples = list(TUPLE.finditer(text))
    if tuples and source.random() < 0.4:
        match = source.choice(tuples)
        items = match[0][1:-1].split(b",")
        at = source.randrange(len(items))
        items[at : at + 1] = source.choice(([], [items[at], items[at]], [items[at], word]))
        return text[: match.start()] + b"[" + b",".join(items) + b"]" + text[match.end() :]
    instead = source.choice((b"", text[start:end] * 2, word, word + b" " + text[start:end]))
    return text[:start] + instead + text[end:]


@pytest.mark.parametrize("name", TEXTS)
def test_no_guess_in_the_corpus(name: str) -> None:
    assert guesses(TEXTS[name]) == []


@pytest.mark.parametrize("name", [name for name in TEXTS if len(TEXTS[name]) < LONGEST])
def test_no_guess_in_damaged_texts(name: str, seed: int) -> None:
    source = random.Random(f"{seed} {name}")
    for _ in range(3 if WORD.search(TEXTS[name]) else 0):
        text = damaged(TEXTS[name], source)
        assert guesses(text) == [], text.decode("utf-8", "replace")


def test_a_safe_fix_that_makes_an_error_is_left_to_a_person() -> None:
    """It is left as unsafe, and those beside it are applied."""

    def toy(text: bytes) -> list[Diagnostic]:
        found = [
            Diagnostic("T1", "error", "a", at, at + 1, fix=Fix("b", True, [Edit(at, at + 1, "b")]))
            for at, letter in enumerate(text)
            if letter == ord("a")
        ]
        wrong = text.find(b"xb")
        return [*found, Diagnostic("T2", "error", "xb", wrong, wrong + 2)] if wrong >= 0 else found

    fixed = fix_all(b"a\nxa\na", toy)
    assert fixed.text == b"b\nxa\nb"
    assert [(d.code, d.fix is not None and d.fix.safe) for d in fixed.diagnostics] == [
        ("T1", False)
    ]
    assert fixed.applied == {"T1": 2}
    assert fix_all(b"a\nxa\na", toy, unsafe=True).text == b"b\nxb\nb"


@pytest.mark.costly
def test_many_guesses_cost_in_proportion_even_on_one_line() -> None:
    def guessing(text: bytes) -> list[Diagnostic]:
        def guess(at: int) -> Fix:
            return Fix("x", True, [Edit(at, at + 1, "b")])

        return [
            Diagnostic("TY001", "warning", "m", at, at + 1, (), guess(at))
            if sign == ord("a")
            else Diagnostic("TY002", "error", "m", at, at + 1)
            for at, sign in enumerate(text)
            if sign != ord(" ")
        ]

    def fixed(text: bytes) -> None:
        assert fix_all(text, guessing).applied == {}

    assert_in_proportion(lambda count: partial(fixed, b"a " * count), 4_000, 16_000)


CNTK = {file.name: (file.id, decode_legacy(file.data).text) for file in FILES}


def checking(language_id: str) -> Callable[[bytes], list[Diagnostic]]:
    language = language_by_id(language_id)
    return lambda text: examine(language, LineIndex(text), Context(), Selection())


@pytest.mark.parametrize("name", [name for name, (_, text) in CNTK.items() if len(text) < LONGEST])
def test_no_guess_in_cntks_languages(name: str, seed: int) -> None:
    language, text = CNTK[name]
    source = random.Random(f"{seed} {name}")
    texts = [text]
    if WORD.search(text):
        texts += [damaged(text, source).decode(errors="replace").encode() for _ in range(2)]
    for one in texts:
        assert guesses(one, checking(language)) == [], one.decode()


def test_check_with_fix_applies_no_guess_to_cntks_files(tmp_path: pathlib.Path) -> None:
    """Nor is a fix omitted that is in another file."""
    guess = b'x = Parameter(3, 3, init = "uniform)\ny = Input(2)\n'
    (tmp_path / "a.ndl").write_bytes(guess)
    (tmp_path / "b.bs").write_bytes(b"a = 1\nb = a ** 2 ** 3\n")
    answer = netsharp("check", "--fix", "--format", "json", "a.ndl", "b.bs", cwd=tmp_path)
    assert (tmp_path / "a.ndl").read_bytes() == guess
    assert (tmp_path / "b.bs").read_bytes() == b"a = 1\nb = (a ** 2) ** 3\n"
    fixes = [one["fix"] for one in json.loads(answer.out)["diagnostics"]]
    assert [fix["safe"] for fix in fixes if fix is not None] == [False]


def test_texts_are_fixed_together() -> None:
    """A fix in one that leaves an error at its own place is taken back there alone."""

    def toys(texts: Mapping[str, bytes]) -> dict[str, list[Diagnostic]]:
        found = {}
        for name, text in texts.items():
            at = text.find(b"a")
            fix = Fix("b", True, [Edit(at, at + 1, "b")])
            here = [Diagnostic("T1", "error", "a", at, at + 1, fix=fix)] if at >= 0 else []
            wrong = text.find(b"xb")
            if wrong >= 0:
                here.append(Diagnostic("T2", "error", "xb", wrong, wrong + 2))
            found[name] = here
        return found

    fixed = fix_texts({"1": b"a", "2": b"xa"}, toys)
    assert {name: one.text for name, one in fixed.items()} == {"1": b"b", "2": b"xa"}
    assert {name: one.applied for name, one in fixed.items()} == {"1": {"T1": 1}, "2": {}}
    assert [d.fix is not None and d.fix.safe for d in fixed["2"].diagnostics] == [False]
