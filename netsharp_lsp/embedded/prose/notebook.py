"""Finds specifications in the cells of Jupyter notebooks: code, Markdown, and the cell magic.

Knows the JSON of notebooks as far as cells; the contents of a cell are read by others.
"""

from __future__ import annotations

import re

from netsharp_lsp.embedded.layers import Holding, programs_of
from netsharp_lsp.embedded.passage import Passage, Pieces, Unreserved
from netsharp_lsp.embedded.prose.json_text import read_json, read_strings
from netsharp_lsp.embedded.prose.markdown import read_markdown
from netsharp_lsp.embedded.regions import Region

TYPE_CHECKING = False
if TYPE_CHECKING:
    from netsharp_lsp.embedded.layers import HostLayer
    from netsharp_lsp.embedded.prose.json_text import Value

_MAGIC = re.compile(rb"\s*%%(\S+)[ \t]*([\w.-]*)[^\n]*(?:\n|\Z)")
#: Magics of cells in which the rest is code of a language.
_MAGICS = {
    "netsharp": "netsharp",
    "python": "python",
    "python3": "python",
    "time": "python",
    "timeit": "python",
    "capture": "python",
    "prun": "python",
    "r": "r",
    "sql": "sql",
    "rmd": "rmd",
}
_LINE_END = re.compile(rb"\r\n?|\n")
_LANGUAGES = {
    "python": "python",
    "ipython": "python",
    "r": "r",
    "ir": "r",
    "sql": "sql",
    "tsql": "sql",
}


class RestForm(Unreserved):
    """The rest of a text, after a first line: as it is, except for its line ends."""

    own_lines = True
    one_line = False

    def __init__(self, line_end: bytes) -> None:
        self.line_end = line_end

    def encode(self, text: str) -> str | None:
        """Return the text with the cell's line ends."""
        return text.replace("\n", self.line_end.decode())

    def decode(self, written: bytes) -> bytes | None:
        """Return the text."""
        return _LINE_END.sub(b"\n", written)

    def read(self, source: bytes, at: int) -> Pieces:
        """Return the pieces of a text from an offset on."""
        pieces = Pieces()
        for found in _LINE_END.finditer(source, at):
            pieces.copy(at, source[at : found.start()])
            pieces.put(found.start(), b"\n")
            at = found.end()
        pieces.copy(at, source[at:])
        return pieces


def read_notebook(layer: HostLayer) -> Holding:
    """Return the contents of a notebook; nothing where it is not valid JSON."""
    top = read_json(layer.text)
    cells = top.get("cells") if top is not None else None
    if top is None or cells is None:
        return Holding()
    kernel = _kernel_language(top)
    found: list[Region] = []
    chunks: list[tuple[str, Passage]] = []
    for cell in cells.values:
        source = cell.get("source")
        passage = read_strings(source, layer.passage) if source is not None else None
        if passage is None:
            continue
        if cell.at("cell_type") == "markdown":
            regions, others = read_markdown(passage.text, passage)
            found += regions
            chunks += others
        elif cell.at("cell_type") == "code":
            _read_code(cell, passage, kernel, (found, chunks))
    return Holding(found, programs_of(chunks))


def _kernel_language(top: Value) -> str | None:
    """Return the language of code cells: a host of its own, None for any other."""
    metadata = top.get("metadata")
    if metadata is None:
        return "python"
    name = metadata.at("kernelspec", "language") or metadata.at("language_info", "name")
    return _LANGUAGES.get(name.lower()) if name else "python"


def _read_code(
    cell: Value,
    passage: Passage,
    kernel: str | None,
    into: tuple[list[Region], list[tuple[str, Passage]]],
) -> None:
    """Add a code cell: a region where it is all Net#, else a chunk of its language."""
    found, chunks = into
    language, name = kernel, ""
    magic = _MAGIC.match(passage.text)
    if magic is not None:
        language = _MAGICS.get(magic.group(1).decode("utf-8", "replace").lower())
        name = magic.group(2).decode("utf-8", "replace")
        passage = _rest(passage, magic.end())
    metadata = cell.get("metadata")
    if magic is None and metadata is not None:
        own = metadata.at("vscode", "languageId")
        language = {**_LANGUAGES, "netsharp": "netsharp"}.get(own) if own else language
    if language == "netsharp":
        found.append(Region(passage, name or _cell_name(cell)))
    elif language is not None:
        chunks.append((language, passage))


def _rest(passage: Passage, start: int) -> Passage:
    """Return the text of a cell from an offset on."""
    form = RestForm(b"\r\n" if b"\r\n" in passage.text else b"\n")
    return Passage(passage.text, len(passage.text), form.read(passage.text, start), form, passage)


def _cell_name(cell: Value) -> str | None:
    """Return the name of a cell: its name, its first tag, or its id."""
    metadata = cell.get("metadata")
    tags = metadata.get("tags") if metadata is not None else None
    tag = tags.values[0].string() if tags is not None and tags.values else None
    name = metadata.at("name") if metadata is not None else None
    return name or tag or cell.at("id")
