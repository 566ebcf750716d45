"""The proof at run time: what it forgives, and what it finds."""

from __future__ import annotations

import pytest
from tree_sitter import Language

from netsharp_grammar._netsharp import language
from netsharp_lsp.layout.options import FormatOptions
from netsharp_lsp.netsharp import LANGUAGE
from netsharp_lsp.netsharp.formatting.safety import find_difference
from netsharp_lsp.netsharp.formatting.tokens import KNOWN_KINDS
from tests.costs import within

#: Kinds of nodes in text that cannot be formatted.
FAULTS = {
    "stray",
    "unknown_declaration",
    "orphan",
    "unknown_kind",
    "round_tuple",
    "malformed_number",
    "digit_name",
    "placeholder",
    "unclosed_comment",
    "hash_comment",
    "html_comment",
}


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (b"Input A[3];", b"input A [3];"),
        (b"hidden H[3]TanH from A All;", b"hidden H [3] tanh from A all;"),
        (b"X = 1 // c\n;", b"X = 1; // c"),
        (b"/* a\r\nb */ x", b"/* a\nb */\nx"),
        (b"A/* a */B", b"A /* a */ B"),
    ],
)
def test_what_may_change(before: bytes, after: bytes) -> None:
    assert find_difference(before, after) is None


@pytest.mark.parametrize(
    ("before", "after", "words"),
    [
        (b"input A [3];", b"input A [3]", "';' would become nothing"),
        (b"input A [3]", b"input A [3];", "nothing would become ';'"),
        (b"input A [3];", b"input a [3];", "'A' would become 'a'"),
        (b"input A [3];", b"Input A [3];", "'input' would become 'Input'"),
        (b"Stride = [1];", b"stride = [1];", "'Stride' would become 'stride'"),
        (b"1e -04", b"1e-04", "'1e' would become '1e-04'"),
        (b"a = > b", b"a => b", "'=' would become '=>'"),
        (b"from A", b"fromA", "'from' would become 'fromA'"),
        (b"x // a\n// b\n", b"x // a // b\n", "'// a' would become '// a // b'"),
        (b"// a\n// b\n", b"// b\n// a\n", "'// a' would become '// b'"),
        (b"x // a\ny", b"x // a y", "'y' would become nothing"),
        (b"x // a\v", b"x // a", "'// a\v' would become '// a'"),
        (b"x // y", b"x y", "nothing would become 'y'"),
        ("x é".encode(), b"x", "'é' would become nothing"),
    ],
)
def test_what_may_not_change(before: bytes, after: bytes, words: str) -> None:
    assert find_difference(before, after) == words


def test_every_kind_of_node_is_known_or_a_fault() -> None:
    grammar = Language(language())
    kinds = {
        grammar.node_kind_for_id(kind)
        for kind in range(grammar.node_kind_count)
        if grammar.node_kind_is_named(kind) and grammar.node_kind_is_visible(kind)
    }
    kinds = {kind for kind in kinds if kind and not kind.startswith("missing_")}
    assert kinds - {"source_file"} == KNOWN_KINDS | FAULTS


@pytest.mark.parametrize("text", [b"(" * 20_000 + b"3" + b")" * 20_000, b"9" * 100_000])
def test_no_value_is_slow_to_format(text: bytes) -> None:
    within(5, lambda: LANGUAGE.format(b"const X=" + text + b";", FormatOptions()))
