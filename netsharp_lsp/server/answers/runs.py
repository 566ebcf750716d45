"""A document's training, begun or refused with a reason; asked by a request and by a command."""

from __future__ import annotations

import os
import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from lsprotocol import types as lsp

from netsharp_engine.plain_files import open_plain
from netsharp_lsp.server.jobs.training import Order
from netsharp_lsp.server.surroundings.workspace_files import path_of, uri_of
from netsharp_lsp.server.transport.protocol import RefusedError
from netsharp_lsp.text.decode import Source, decode

if TYPE_CHECKING:
    from netsharp_lsp.ide.answers import StartedRun
    from netsharp_lsp.server.documents.views import OpenDocument
    from netsharp_lsp.server.session import Session

#: A key that may be set: not a text that a command line would read as a flag.
_KEY = re.compile(r"[A-Za-z_][A-Za-z0-9_.]*")


def start(session: Session, uri: str, options: dict[str, Any]) -> str:
    """Start training a document and return the run's id; refuses with the reason.

    `options`: `runFile` (a path or URI), `resume`, `name` of a specification in a host file, and
    `told`, whether a message says how the run ended; of a configuration `command`, what is done,
    and `set`, values by key.
    """
    order = _order(session, uri, options)
    if isinstance(order, str):
        raise RefusedError(lsp.LSPErrorCodes.RequestFailed, order)
    try:
        return session.runs.start(order)
    except OSError as error:
        sentence = f"No process can be started for the run: {error.strerror}."
        raise RefusedError(lsp.LSPErrorCodes.RequestFailed, sentence) from None


def examination(session: Session, document: OpenDocument) -> list[str] | str:
    """Return the command that looks at the start of a document's training, or why there is none."""
    if len(document.views) != 1 or document.views[0].region is not None:
        return "Only a specification in a file of its own is looked at: save it as one."
    if session.examined.is_looking(document.uri):
        return "The start of its training is being looked at already."
    if session.experiments.holds(document.uri):
        return "Only the start of a specification's run is looked at."
    order = _order(session, document.uri, {})
    return order if isinstance(order, str) else [*order.command(), "--examine"]


def _order(session: Session, uri: str, options: dict[str, Any]) -> Order | str:
    """Return the training to start, or why it cannot be started."""
    path = path_of(uri)
    if path is None or not os.path.isfile(path):
        return "A network is trained from a file: save the document first."
    name = os.path.basename(path)
    if not session.trusted:
        return f"{name}: nothing is trained in a workspace that is not trusted."
    if _unsaved(session, uri, path):
        return f"{name} has unsaved changes, and the model records the saved text: save it first."
    if session.runs.training(uri):
        return f"{name} is being trained already: stop that run first."
    start = _started(session, uri, options)
    if isinstance(start, str):
        return start
    run_file = options.get("runFile")
    if run_file is not None:
        run_file = path_of(str(run_file)) or os.path.join(os.path.dirname(path), str(run_file))
    chosen = f"{path}::{options['name']}" if options.get("name") else path
    roots = tuple(filter(os.path.isdir, session.roots.folders or ()))
    resume, shows_end = bool(options.get("resume")), bool(options.get("told"))
    return Order(uri, chosen, run_file, resume, shows_end, roots, start)


def _started(session: Session, uri: str, options: dict[str, Any]) -> StartedRun | str | None:
    """Return the run that a document starts, or why there is none; None for documents without
    runs.
    """
    command, assigned = options.get("command", ""), options.get("set", {})
    views = [view for view, _, _ in session.places(uri, None)]
    found: StartedRun | None = views[0].snapshot.start(command) if len(views) == 1 else None
    if found is None:
        return "Open a configuration to run a command of it." if command or assigned else None
    for path in filter(os.path.isabs, found.files):
        if _unsaved(session, uri_of(path), path):
            return f"{os.path.basename(path)} has unsaved changes: save it first."
    for key, value in assigned.items():
        if not _KEY.fullmatch(key) or not isinstance(value, (str, int, float)):
            return f"'{key}' cannot be set: a key is letters, digits and dots, a value is text."
    items = [*found.items, *(f"{key}={_text(value)}" for key, value in assigned.items())]
    if "resume" in options and not any(key.lower() == "makemode" for key in assigned):
        items.append(f"makeMode={_text(options['resume'])}")
    items += [f"command={command}"] if command else []
    return replace(found, items=tuple(items))


def _text(value: object) -> str:
    """Return a value as a configuration has it."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def _unsaved(session: Session, uri: str, path: str) -> bool:
    """Return whether an open document differs from its file in more than line ends and marks."""
    document = session.document(uri)
    if document is None or not uri.startswith("file:"):
        return False
    try:
        with open_plain(path) as stream:
            source = decode(stream.read())
    except OSError:
        return False  # the run itself reports why nothing can be read
    return isinstance(source, Source) and source.text.splitlines() != document.text.splitlines()
