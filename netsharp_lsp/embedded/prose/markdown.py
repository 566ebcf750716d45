"""Finds specifications in Markdown, R Markdown and Quarto: fences in Net#, and in its hosts.

Knows how info strings give a language and a label; the code of a chunk is read by its own finder.
"""

from __future__ import annotations

import re

from netsharp_lsp.embedded.layers import Holding, programs_of
from netsharp_lsp.embedded.prose.fences import find_fences
from netsharp_lsp.embedded.regions import Region

TYPE_CHECKING = False
if TYPE_CHECKING:
    from netsharp_lsp.embedded.layers import HostLayer
    from netsharp_lsp.embedded.passage import Passage
    from netsharp_lsp.embedded.prose.fences import Fence

#: What an info string may call a language, in lower case, and what it is then.
LANGUAGES = {
    "netsharp": "netsharp",
    "net#": "netsharp",
    "nn": "netsharp",
    "python": "python",
    "py": "python",
    "python3": "python",
    "r": "r",
    "sql": "sql",
    "tsql": "sql",
    "t-sql": "sql",
    "mssql": "sql",
}
_WORD = re.compile(r"\{?\s*\.?([A-Za-z][\w#+-]*)")
_LABEL = re.compile(r"\blabel\s*=\s*[\"']?([\w.-]+)|#([\w.-]+)|^[\s,]*([\w.-]+)(?![\w.-]|\s*=)")
#: A label in the comments at the top of a chunk, as Quarto has it.
_COMMENT_LABEL = re.compile(rb"\A(?:(?://|#)\|[^\n]*\n)*?(?://|#)\|\s*label:\s*[\"']?([\w.-]+)")


def read_document(layer: HostLayer) -> Holding:
    """Return the contents of a Markdown text: blocks in Net#, and chunks of its hosts."""
    regions, chunks = read_markdown(layer.text, layer.passage)
    return Holding(regions, programs_of(chunks))


def read_markdown(
    text: bytes, parent: Passage | None = None
) -> tuple[list[Region], list[tuple[str, Passage]]]:
    """Return the blocks in Net# of a Markdown text, and its chunks of code with their languages."""
    regions: list[Region] = []
    chunks: list[tuple[str, Passage]] = []
    if b"```" not in text and b"~~~" not in text:
        return regions, chunks
    for fence in find_fences(text, parent):
        language = language_of(fence.info)
        if language == "netsharp":
            regions.append(Region(fence.passage, _label(fence)))
        elif language is not None:
            chunks.append((language, fence.passage))
    return regions, chunks


def language_of(info: str) -> str | None:
    """Return the language of a block by its info string, None where it is none of ours."""
    word = _WORD.match(info)
    return LANGUAGES.get(word.group(1).lower()) if word is not None else None


def _label(fence: Fence) -> str | None:
    """Return the label of a block: from the info string, or from the comments at its top."""
    info = fence.info
    word = _WORD.match(info)
    label = _LABEL.search(info[word.end() if word is not None else 0 :])
    if label is not None:
        return label.group(1) or label.group(2) or label.group(3)
    comment = _COMMENT_LABEL.match(fence.passage.text)
    return comment.group(1).decode() if comment is not None else None
