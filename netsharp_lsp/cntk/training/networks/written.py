"""Starts of parameters whose numbers are given in a file or in the network's text, and of those
that enlarge images.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from netsharp_engine.cntk import matrices
from netsharp_engine.cntk.starts import GIVEN, Start
from netsharp_engine.data.errors import DataError
from netsharp_engine.plain_files import open_plain
from netsharp_lsp.cntk.networks.node import elements
from netsharp_lsp.cntk.networks.starting import FROM_FILE, FROM_LITERAL, literal_lines, misfit
from netsharp_lsp.cntk.training.refusals import Refused, RunRefusal
from netsharp_lsp.text.matrices import matrix_of
from netsharp_lsp.workspace import outside

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from netsharp_lsp.cntk.networks.node import Node
    from netsharp_lsp.cntk.run.files import RunFiles

    Blocks = Callable[[], Iterable[bytes]]

_BLOCK = 1 << 16


def written_start(node: Node, files: RunFiles) -> Start | None:
    """Return the start of a parameter; None where it begins in another way.

    DataError where the numbers cannot be used, Refused where they may not be read.
    """
    kind = node.text("init")
    if kind == FROM_LITERAL:
        text = literal_lines(node.text("initFromLiteral"))
        return _of_text(node, "initFromLiteral", lambda: (text,))
    if kind == FROM_FILE:
        return _of_file(node, files)
    return _enlarging(node) if kind == "bilinear" else None


def _of_file(node: Node, files: RunFiles) -> Start:
    path = node.text("initFromFilePath").replace("\\", "/")
    if files.outside(path):
        raise Refused(RunRefusal(outside(path), node.where))
    place = files.locate(path)

    def blocks() -> Iterable[bytes]:
        with open_plain(place) as stream:
            yield from iter(partial(stream.read, _BLOCK), b"")

    try:
        return _of_text(node, path, blocks)
    except OSError as error:
        why = error.strerror or str(error)
        raise DataError(f"'{node.name}' begins with the numbers of '{path}': {why}.") from None


def _of_text(node: Node, name: str, blocks: Blocks) -> Start:
    shape, known = node.shape or (), matrix_of(blocks())
    if known.flaw:
        raise DataError(f"'{node.name}' begins with the numbers of '{name}': {known.flaw}.")
    size = (known.rows, known.columns)
    if not shape or (shape[0], elements((1, *shape[1:]))) != size:
        raise DataError(misfit(shape, name, *size))
    try:
        return Start(GIVEN, numbers=matrices.matrix(blocks(), *size))
    except ValueError:
        raise DataError(f"'{name}' changed while it was read. Start again.") from None


def _enlarging(node: Node) -> Start | None:
    """Return kernels for enlarging; CNTK takes their first dimension for their number."""
    shape, width = node.shape or (), node.integer("kernelWidth")
    if width < 1 or len(shape) != 2:
        return None
    channels = shape[0]
    if node.integer("kernelHeight") != width:
        reason = (
            f"'{node.name}' is initialized by 'bilinear', and its kernelWidth and kernelHeight "
            "differ."
        )
    elif shape[1] != channels * width * width:
        reason = (
            f"'{node.name}' is initialized by 'bilinear' and needs as many output channels as "
            f"input channels: [{channels} x {channels * width * width}] for kernels of {width} x "
            f"{width}, and it is [{channels} x {shape[1]}]."
        )
    else:
        return Start(GIVEN, numbers=matrices.bilinear(channels, width))
    raise Refused(RunRefusal(reason, node.where))
