"""What is loaded and tried in idle moments after the start, so that no person waits for it."""

from __future__ import annotations

from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING

from lsprotocol import types as lsp

from netsharp_lsp.ide.answers import HintOptions, LensOptions
from netsharp_lsp.language import DEFAULT, language_by_id
from netsharp_lsp.layout.options import FormatOptions
from netsharp_lsp.server.documents import Document
from netsharp_lsp.server.handlers import NOTIFICATIONS, PLAIN, REQUESTS
from netsharp_lsp.server.views import OpenDocument

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from netsharp_lsp.language import Snapshot
    from netsharp_lsp.server.session import Session

_TEXT = "input A [2];\nhidden B [2] from A all;\noutput C [1] from B all;\n"
_NAME = _TEXT.index("B")
#: What a person asks first, in the order of likelihood.
_QUESTIONS: tuple[Callable[[Snapshot], object], ...] = (
    lambda snapshot: snapshot.tokens(0, len(_TEXT)),
    lambda snapshot: snapshot.hints(0, len(_TEXT), HintOptions()),
    lambda snapshot: snapshot.hover(_NAME),
    lambda snapshot: snapshot.complete(_TEXT.index("A all")),
    lambda snapshot: snapshot.actions(_NAME, _NAME, None),
    lambda snapshot: snapshot.symbols(),
    lambda snapshot: snapshot.lenses(LensOptions()),
    lambda snapshot: snapshot.folds(),
    lambda snapshot: snapshot.links(),
    lambda snapshot: snapshot.highlights(_NAME),
    lambda snapshot: snapshot.definition(_NAME),
    lambda snapshot: snapshot.signature(_NAME),
    lambda snapshot: snapshot.prepare_rename(_NAME),
    lambda snapshot: snapshot.selections(_NAME),
    lambda snapshot: snapshot.flow(_NAME),
    lambda snapshot: snapshot.format(FormatOptions()),
)


def chores(session: Session) -> Iterator[Callable[[], object]]:
    """Yield what there is to do, the most urgent first; each takes a few milliseconds."""
    yield partial(language_by_id, DEFAULT)
    document = _sample(session)
    yield lambda: document.views[0].snapshot.check()
    yield partial(document.change, 2, [{"text": _TEXT.replace("B", "D")}])
    yield lambda: document.views[0].snapshot.check()
    for ask in _QUESTIONS:
        yield partial(_ask, document, ask)
    places = dict.fromkeys(place.partition(":")[0] for place in (REQUESTS | NOTIFICATIONS).values())
    for place in places:
        yield partial(import_module, f"netsharp_lsp.server.{place}")
    for method in REQUESTS:
        known = lsp.METHOD_TO_TYPES.get(method)
        if known is not None and known[2] is not None and method not in PLAIN:
            yield partial(session.server.protocol.prepare, known[2])


def _ask(document: OpenDocument, question: Callable[[Snapshot], object]) -> None:
    question(document.views[0].snapshot)


def _sample(session: Session) -> OpenDocument:
    from netsharp_lsp.context import Context

    opened = Document.opened("untitled:sample.nn", DEFAULT, 1, _TEXT)
    return OpenDocument(opened, session.ruler, lambda _: Context())
