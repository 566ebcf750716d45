"""What must hold for any text at all; a fuzzer makes texts, this checks them."""

from __future__ import annotations

from typing import Any

from netsharp_lsp.context import Context
from netsharp_lsp.diagnostics.model import Diagnostic
from netsharp_lsp.diagnostics.selection import Selection
from netsharp_lsp.diagnostics.suppression import find_suppressions, suppress
from netsharp_lsp.language import language_by_id
from netsharp_lsp.layout.options import FormatOptions
from netsharp_lsp.netsharp.check import check
from netsharp_lsp.netsharp.describe import describe_network
from netsharp_lsp.netsharp.formatting import format_text
from netsharp_lsp.netsharp.meaning.network import Network
from netsharp_lsp.text.decode import DecodeError, Source, decode, encode
from netsharp_lsp.text.lines import LineIndex

NETSHARP = language_by_id("netsharp")
CODES = frozenset(NETSHARP.rules.codes)
EVERYTHING = Selection()
OPTIONS = FormatOptions()
#: Conditions over more pairs of nodes are counted one by one, for seconds (NS111 says so).
MOST_PAIRS = 100_000


def check_bytes(data: bytes, context: Context) -> None:
    """A file's bytes: parsed and checked, or refused at an offset inside the file."""
    source = decode(data)
    if isinstance(source, DecodeError):
        assert 0 <= source.offset <= len(data)
        assert source.message
        return
    assert isinstance(source, Source)
    assert encode(source, source.text) == data
    check_all(source.text, context)


def check_all(text: bytes, context: Context) -> tuple[Network, list[Diagnostic]]:
    """Check, describe and format a text; none may raise, and each must keep its promises."""
    network, diagnostics = check(text, context)
    _check_diagnostics(text, network, diagnostics)
    if not is_long_to_count(network):
        _check_description(describe_network(network))
    formatted = format_text(text, OPTIONS)
    assert formatted.failure is None, formatted.failure
    return network, diagnostics


def is_long_to_count(network: Network) -> bool:
    """Whether describing a network may take seconds, as it rightly does."""
    return any(
        bundle.kind == "where"
        and bundle.source is not None
        and (bundle.source.nodes or 0) * (bundle.layer.nodes or 0) > MOST_PAIRS
        for bundle in network.bundles()
    )


def _check_diagnostics(text: bytes, network: Network, diagnostics: list[Diagnostic]) -> None:
    comments = [(comment.start, comment.end) for comment in network.specification.comments]
    lines = LineIndex(text)
    suppressions = find_suppressions(lines, comments, *NETSHARP.comment_marks)
    left = suppress(
        diagnostics,
        lines,
        suppressions,
        lambda: NETSHARP.rules.codes,
        *NETSHARP.suppression_codes,
        NETSHARP.asked_codes,
    )
    for diagnostic in EVERYTHING.filter(left):
        assert diagnostic.code in CODES
        places: list[Any] = [diagnostic, *diagnostic.related]
        if diagnostic.fix is not None:
            places += diagnostic.fix.edits
        for place in places:
            assert 0 <= place.start <= place.end <= len(text), diagnostic
            assert is_boundary(text, place.start), diagnostic
            assert is_boundary(text, place.end), diagnostic


def is_boundary(text: bytes, offset: int) -> bool:
    """Whether no character of UTF-8 is cut at an offset."""
    return offset >= len(text) or text[offset] & 0xC0 != 0x80


def _check_description(description: dict[str, Any]) -> None:
    for layer in description["layers"]:
        for part in (layer, *layer["bundles"]):
            assert part["parameters"] is None or part["parameters"] >= 0
