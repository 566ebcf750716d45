"""Rules on comments: `#`, comments without an end, block comments."""

from __future__ import annotations

from netsharp_lsp.netsharp.findings import Change, Finding, RelativeSpan, Repair, Rests
from netsharp_lsp.netsharp.rules import NETWORK, rule
from netsharp_lsp.text.expressions import late

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from netsharp_lsp.netsharp.meaning.network import Network

_LINE_END = late(rb"[\r\n]|\Z")
#: Only blanks to the end of a line; the match reads no further.
_NO_MORE = late(rb"[^\S\r\n]*+(?:[\r\n]|\Z)")


@rule("NS002", "error", on=NETWORK, rests=Rests.TEXT)
def hash_comment(network: Network, _: Network) -> Iterator[Finding]:
    """Report `#` where a comment should start."""
    if network.doubts.foreign:
        return
    data = network.specification.data
    for comment in network.specification.comments.odd():
        if comment.kind != "hash":
            continue
        text = data[comment.start : comment.end]
        width = len(text) - len(text.lstrip(b"#"))
        place = RelativeSpan(None, comment.start, comment.start + width)
        repair = Repair("Replace by '//'", [Change(place, "//")], safe=True)
        message = "'#' does not start a comment in Net#; use '//'."
        yield Finding("NS002", place, message, repair=repair)


@rule("NS003", "error", on=NETWORK, rests=Rests.TEXT)
def unclosed_comment(network: Network, _: Network) -> Iterator[Finding]:
    """Report `/*` without `*/`: the rest of the text is a comment."""
    data = network.specification.data
    for comment in network.specification.comments.odd():
        if comment.kind != "unclosed":
            continue
        place = RelativeSpan(None, comment.start, comment.start + 2)
        ended = _LINE_END.search(data, comment.start)
        end = ended.start() if ended is not None else len(data)
        close = Change(RelativeSpan(None, end, end), " */")
        message = "Comment is never closed: everything after this '/*' is ignored."
        repair = Repair("Close the comment at the end of its line", [close], safe=True)
        yield Finding("NS003", place, message, repair=repair)


@rule("NS004", "info", on=NETWORK, rests=Rests.TEXT)
def block_comment(network: Network, _: Network) -> Iterator[Finding]:
    """Report `/* ... */`, an extension of the guide's language."""
    data = network.specification.data
    for comment in network.specification.comments.odd():
        if comment.kind != "block":
            continue
        place = RelativeSpan(None, comment.start, comment.end)
        message = "Block comments are an extension; Azure ML may reject them."
        repair = None
        if _NO_MORE.match(data, comment.end) is not None:
            text = data[comment.start + 2 : comment.end - 2].decode("utf-8", "replace")
            lines = [line_comment(line) for line in text.splitlines() or [""]]
            change = Change(place, "\n".join(lines))
            repair = Repair("Turn into '//'", [change], safe=True)
        yield Finding("NS004", place, message, repair=repair)


def line_comment(line: str) -> str:
    """Return one line of a block comment as a comment of its own."""
    text = line.strip().strip("*").strip()
    return f"// {text}" if text else "//"
