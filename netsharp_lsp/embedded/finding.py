"""Finds the specifications of a host text; imports what reads a host when one of it comes."""

from __future__ import annotations

from netsharp_lsp.text.extent import refused

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from netsharp_lsp.embedded.regions import Region

    Finder = Callable[[bytes], list[Region]]

#: Brackets a thousand deep are nobody's program.
_TOO_DEEP = "holds brackets or operators within each other, too deep to be read; simplify them."


def find_regions(language_id: str, data: bytes) -> list[Region] | str:
    """Return the specifications of a host text, in order; none where the id names no host.

    Where it or one of them is not read, why: a sentence that lacks the name of the host.
    `data` is UTF-8 without a byte-order mark.  Never raises, whatever the text.
    """
    finder = _FINDERS.get(language_id)
    if finder is None:
        return []
    try:
        regions = sorted(finder(data), key=lambda region: region.start)
    except RecursionError:
        return _TOO_DEEP
    for region in regions:
        why = refused(region.text)
        if why is not None:
            line = data.count(b"\n", 0, region.start) + 1
            return f"holds a specification, at line {line}, that {why}"
    return regions


def _python(data: bytes) -> list[Region]:
    from netsharp_lsp.embedded.prose.chunks import find_in_code

    return find_in_code("python", data)


def _r(data: bytes) -> list[Region]:
    from netsharp_lsp.embedded.prose.chunks import find_in_code

    return find_in_code("r", data)


def _markdown(data: bytes) -> list[Region]:
    from netsharp_lsp.embedded.prose.markdown import find_in_markdown

    return find_in_markdown(data)


def _notebook(data: bytes) -> list[Region]:
    from netsharp_lsp.embedded.prose.notebook import find_in_notebook

    return find_in_notebook(data)


#: The finder of each host language, imported on need.
_FINDERS: dict[str, Finder] = {
    "python": _python,
    "r": _r,
    "markdown": _markdown,
    "rmd": _markdown,
    "quarto": _markdown,
    "ipynb": _notebook,
}
