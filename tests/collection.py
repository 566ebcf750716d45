"""Every Net# text that the project holds, by name: the corpus, and the examples of rule pages.

Laws that hold for any text run over it; it knows where texts lie and nothing of what they say.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from netsharp_lsp.context import Context
from netsharp_lsp.diagnostics.pages import RuleBook
from netsharp_lsp.netsharp.rules import FOLDER
from netsharp_lsp.text.decode import Source, decode

CORPUS = Path(__file__).parent / "corpus"
FOLDERS = ("guide", "valid", "broken")
#: The guide's samples that are not complete networks, and which codes each may give.
FRAGMENTS = {
    "const_expressions": {"NS051", "NS052"},
    "const_one": {"NS051", "NS052"},
    "const_two": {"NS051", "NS052"},
    "filtered": {"NS052"},
    "html_comment": {"NS001"},
    "p1": {"NS035", "NS051", "NS052"},
    "rn1": {"NS035", "NS051", "NS052"},
    "rn1_padded": {"NS035", "NS051", "NS052"},
    "softmax_line": {"NS035", "NS051"},
    "weights_1": {"NS011", "NS039", "NS051", "NS052"},
}
#: What turns every `auto` of the collection into a number.
RESOLVING = Context(features=12, hidden_nodes=5, outputs=3, task="multiclass")


class Sample(NamedTuple):
    """One text: `data` as it is stored, `text` as the checker gets it, what is known around it."""

    name: str
    group: str
    data: bytes
    text: bytes
    context: Context

    @property
    def complete(self) -> bool:
        """Whether it is a complete network without a fault."""
        stem = self.name.partition("/")[2]
        return self.group == "valid" or (self.group == "guide" and stem not in FRAGMENTS)


def collect() -> list[Sample]:
    """Files of the corpus first, then the bad and the good example of each page."""
    return [*_files(), *_examples()]


def _files() -> list[Sample]:
    found = []
    for folder in FOLDERS:
        for path in sorted((CORPUS / folder).glob("*.nn")):
            data = path.read_bytes()
            found.append(Sample(f"{folder}/{path.stem}", folder, data, _text(data), Context()))
    return found


def _examples() -> list[Sample]:
    book = RuleBook(FOLDER)
    found = []
    for code in book.codes:
        page = book.page(code)
        examples = {"bad": (page.bad, page.context), "good": (page.good, page.good_context)}
        for kind, (text, context) in examples.items():
            found.append(Sample(f"{kind}/{code}", kind, text, text, context))
    return found


def _text(data: bytes) -> bytes:
    """UTF-8 without a mark; bytes that are not UTF-8 are read with replacements."""
    source = decode(data)
    if isinstance(source, Source):
        return source.text
    return data.decode("utf-8", "replace").encode()


SAMPLES = collect()
