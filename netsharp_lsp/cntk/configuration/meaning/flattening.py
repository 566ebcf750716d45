"""The layers as one self-contained text: what CNTK reads, with its comments."""

from __future__ import annotations

from netsharp_lsp.cntk.configuration.sources import COMMAND_LINE
from netsharp_lsp.text.visible import visible

TYPE_CHECKING = False
if TYPE_CHECKING:
    from netsharp_lsp.cntk.configuration.meaning.configuration import Configuration
    from netsharp_lsp.cntk.configuration.sources import SourcePlace


def flattened(configuration: Configuration) -> bytes:
    """Return files, included ones and arguments joined, as UTF-8 text.

    Variables and repeated keys are unchanged; what CNTK would skip is omitted. An argument that
    contains a comment may have another meaning in a file: compare with `same_tree`.
    """
    parts: list[bytes] = []
    stretches = configuration.layers.stretches
    several = len(stretches) > 1
    last = None
    for stretch in stretches:
        name = stretch.source.name
        if several and name != last:
            where = "the command line" if name == COMMAND_LINE else name
            parts.append(f"# from {visible(where)}\n".encode())
        last = name
        parts.append(_written(stretch))
    return b"".join(parts)


def _written(stretch: SourcePlace) -> bytes:
    text = stretch.text
    return text if text.endswith(b"\n") else text + b"\n"


def same_tree(first: Configuration, second: Configuration) -> bool:
    """Return whether two configurations have the same keys, in order, with the same values."""

    def tree(configuration: Configuration) -> list[tuple[object, ...]]:
        return [(it.path, it.kind, it.value, it.elements) for it in configuration.values()]

    return tree(first) == tree(second)
