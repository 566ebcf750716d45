"""The modules that are loaded and tried in idle moments after the start."""

from __future__ import annotations

from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING

from lsprotocol import types as lsp

from netsharp_lsp.ide.answers import HintOptions, LensOptions
from netsharp_lsp.language import language_by_id, main_family, main_language
from netsharp_lsp.layout.options import FormatOptions
from netsharp_lsp.server.documents.document import Document
from netsharp_lsp.server.documents.views import OpenDocument
from netsharp_lsp.server.handlers import NOTIFICATIONS, PLAIN, REQUESTS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from netsharp_lsp.interface import Sample, Snapshot
    from netsharp_lsp.server.session import Session

#: The first requests of a session, the most likely first.
_QUESTIONS: tuple[Callable[[Snapshot, Sample], object], ...] = (
    lambda snapshot, sample: snapshot.tokens(0, len(sample.text)),
    lambda snapshot, sample: snapshot.hints(0, len(sample.text), HintOptions()),
    lambda snapshot, sample: snapshot.hover(sample.name),
    lambda snapshot, sample: snapshot.complete(sample.completed),
    lambda snapshot, sample: snapshot.actions(sample.name, sample.name, None),
    lambda snapshot, sample: snapshot.symbols(),
    lambda snapshot, sample: snapshot.lenses(LensOptions()),
    lambda snapshot, sample: snapshot.folds(),
    lambda snapshot, sample: snapshot.links(),
    lambda snapshot, sample: snapshot.highlights(sample.name),
    lambda snapshot, sample: snapshot.definition(sample.name),
    lambda snapshot, sample: snapshot.signature(sample.name),
    lambda snapshot, sample: snapshot.prepare_rename(sample.name),
    lambda snapshot, sample: snapshot.selections(sample.name),
    lambda snapshot, sample: snapshot.flow(sample.name),
    lambda snapshot, sample: snapshot.format(FormatOptions()),
)


def chores(session: Session) -> Iterator[Callable[[], object]]:
    """Yield what there is to do, the most urgent first; each takes a few milliseconds."""
    yield partial(language_by_id, main_language())
    sample = main_family().sample
    if sample is not None:
        document = _opened(session, sample)
        yield lambda: document.views[0].snapshot.check()
        yield partial(document.change, 2, [{"text": sample.edited}])
        yield lambda: document.views[0].snapshot.check()
        for ask in _QUESTIONS:
            yield partial(_request, document, sample, ask)
    places = dict.fromkeys(place.partition(":")[0] for place in (REQUESTS | NOTIFICATIONS).values())
    for place in places:
        yield partial(import_module, f"netsharp_lsp.server.{place}")
    for method in REQUESTS:
        known = lsp.METHOD_TO_TYPES.get(method)
        if known is not None and known[2] is not None and method not in PLAIN:
            yield partial(session.server.protocol.prepare, known[2])


def _request(
    document: OpenDocument, sample: Sample, question: Callable[[Snapshot, Sample], object]
) -> None:
    question(document.views[0].snapshot, sample)


def _opened(session: Session, sample: Sample) -> OpenDocument:
    from netsharp_lsp.context import Context

    opened = Document.opened("untitled:sample", main_language(), 1, sample.text)
    return OpenDocument(opened, session.ruler, lambda _: Context())
