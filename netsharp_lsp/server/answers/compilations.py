"""Return the compilation of a document, or why there is none."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING

from netsharp_engine.plain_files import open_plain
from netsharp_lsp.context import TARGET_KEYS
from netsharp_lsp.project.run_file import model_file, run_file_beside
from netsharp_lsp.server.jobs.compiling import CompileOrder
from netsharp_lsp.server.surroundings.workspace_files import path_of

if TYPE_CHECKING:
    from netsharp_lsp.project.run_file import RunFile
    from netsharp_lsp.server.documents.views import OpenDocument
    from netsharp_lsp.server.session import Session

#: The suffix of the written folder, after the name of the model.
DEVICE = "-device"
#: The most bytes of the header of a model that are read; it also lists the tensors.
_LONGEST_HEADER = 1 << 24


def compilation(session: Session, document: OpenDocument) -> CompileOrder | str:
    """Return the compilation of a document's trained model, or why there is none."""
    path = path_of(document.uri)
    if path is None or not os.path.isfile(path):
        return "A network is compiled from its trained model: save the document, and train it."
    name = os.path.basename(path)
    if session.experiments.holds(document.uri):
        return f"{name} is not a specification in one file: 'netsharp compile' takes its models."
    if len(document.views) != 1 or document.views[0].region is not None:
        return "Only a specification in a file of its own is compiled: save it as one, train it."
    if not session.trusted:
        return f"{name}: no model is read in a workspace that is not trusted."
    found = run_file_beside(path, session.roots)
    run_file = None if isinstance(found, str) else found
    model = os.path.normpath(model_file(path, run_file))
    if session.roots.holds(model) and not os.path.isfile(model):
        return _untrained(name, model, run_file)
    folder = f"{os.path.splitext(model)[0]}{DEVICE}"
    for one in (model, folder):
        if not session.roots.holds(one):
            return f"{one} lies outside of the folders that are open. Open its folder, too."
    if session.compilations.is_going(model):
        return f"{os.path.basename(model)} is being compiled already."
    words = [] if run_file is None else ["--run-file", run_file.path]
    target = session.context_of(document.uri).target
    for key in TARGET_KEYS if target is not None else ():
        found = getattr(target, key)
        words += [] if found is None else [f"--{key}", str(found)]
    aside = session.scratch.folder(document.uri, "report")
    return CompileOrder(model, folder, aside, tuple(words))


def _untrained(name: str, model: str, run_file: RunFile | None) -> str:
    """Return a sentence that says how to train a model first."""
    how = f"train it by the line above it or with 'netsharp run {name}'"
    if run_file is None:
        words = "--train DATA --label COLUMN"
        how = f"train it with 'netsharp run {name} {words}', or write a run file beside it"
    return f"{name} has no trained model yet, {model} is not there: {how}, then compile."


def is_of_another_text(document: OpenDocument, model: str) -> bool:
    """Return whether a model was trained with another text than the document's, line ends aside."""
    try:
        with open_plain(model) as stream:
            size = int.from_bytes(stream.read(8), "little")
            header = stream.read(min(size, _LONGEST_HEADER))
        text = json.loads(json.loads(header)["__metadata__"]["specification"])
        return bool(text.splitlines() != document.text.decode().splitlines())
    except (OSError, ValueError, LookupError, TypeError, AttributeError):
        return False  # The compiler reports why a file is not a model.
