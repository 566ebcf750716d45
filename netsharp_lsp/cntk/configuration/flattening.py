"""All layers as one text that needs no other: what the program reads, with its comments."""

from __future__ import annotations

from netsharp_lsp.cntk.configuration.comments import code_span
from netsharp_lsp.cntk.configuration.faults import Faults
from netsharp_lsp.cntk.configuration.records import records
from netsharp_lsp.cntk.configuration.sources import COMMAND_LINE
from netsharp_lsp.cntk.configuration.traced import Weaver

TYPE_CHECKING = False
if TYPE_CHECKING:
    from netsharp_lsp.cntk.configuration.configuration import Configuration
    from netsharp_lsp.cntk.configuration.sources import Place
    from netsharp_lsp.cntk.configuration.traced import Traced


def flattened(configuration: Configuration) -> bytes:
    """Return files, included ones and arguments one behind the other, as UTF-8 text.

    Variables and repeated keys stay as they are; what the program would skip is left out.
    """
    parts: list[bytes] = []
    stretches = configuration.layers.stretches
    several = len(stretches) > 1
    last = None
    for stretch in stretches:
        name = stretch.source.name
        if several and name != last:
            where = "the command line" if name == COMMAND_LINE else name
            parts.append(f"# from {' '.join(where.splitlines())}\n".encode())
        last = name
        parts.append(_written(stretch))
    return b"".join(parts)


def _written(stretch: Place) -> bytes:
    text = stretch.text
    if stretch.source.name == COMMAND_LINE and code_span(text) != (0, len(text)):
        text = _without_comment(stretch)
    return text if text.endswith(b"\n") else text + b"\n"


def _without_comment(stretch: Place) -> bytes:
    """An argument whose value holds a comment: the program cuts it when it looks the value up.

    In a file it would be cut before the quotes around it are seen.
    """
    weaver = Weaver()
    weaver.add(stretch.source, stretch.start, stretch.end)
    lines = []
    for record in records(weaver.done(), Faults()):
        value = _cut(record.content)
        quoted = b'"' + value + b'"' if record.kind == "string" or not value else value
        lines.append(record.name + b"=" + quoted)
    return b"\n".join(lines)


def _cut(content: Traced) -> bytes:
    start, end = code_span(content.text)
    return content.text[start:end].strip(b" \t")


def same_tree(first: Configuration, second: Configuration) -> bool:
    """Whether two configurations have the same keys, in order, with the same values."""

    def tree(configuration: Configuration) -> list[tuple[object, ...]]:
        return [(it.path, it.kind, it.value, it.elements) for it in configuration.values()]

    return tree(first) == tree(second)
