"""Links in a text: addresses in comments, rules that suppressions name, and the files of networks
and models that a text names.
"""

from __future__ import annotations

import re
from urllib.request import pathname2url

from netsharp_lsp.cntk.ide.places.paths import FILE, file_at
from netsharp_lsp.cntk.model_files import begins_as_model
from netsharp_lsp.cntk.rules import RULES
from netsharp_lsp.cntk.run.models import named_models
from netsharp_lsp.ide.answers import Link
from netsharp_lsp.ide.links import addresses, suppressed_rules

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from netsharp_lsp.cntk.ide.places.edited import Edited

#: What loads or saves a model in BrainScript and MEL, up to its name.
_LOADING = re.compile(
    rb"\b(?:Network\s*\.\s*Load|LoadModel|LoadModelWithName|SaveModel|SaveModelWithName)\b\s*"
    rb"[({]?\s*(?:\w+\s*,\s*)?[\"']?([^\s\"'(){},;=$]+)",
    re.IGNORECASE,
)


def links_of(edited: Edited) -> list[Link]:
    """Return all links in the order of the text."""
    text = edited.text
    RULES.load()
    rules = suppressed_rules(text.lines, text.comments, ("#", "//"), RULES.severities)
    found = [*addresses(text.data, text.comment_at), *rules, *_files(edited), *_models(edited)]
    return sorted(found, key=lambda link: link.start)


def _files(edited: Edited) -> Iterator[Link]:
    """Yield files of the run that exist; their texts are not read."""
    comments = edited.text.comments
    for match in FILE.finditer(edited.data):
        if any(start <= match.start() < end for start, end in comments):
            continue
        found = file_at(edited, match.start())
        if found is not None and found.file != edited.name:
            url = f"file://{pathname2url(found.file)}"
            tooltip = f"Open {match.group().decode('utf-8', 'replace')}"
            yield Link(match.start(), match.end(), url=url, tooltip=tooltip)


def _models(edited: Edited) -> Iterator[Link]:
    """Yield models that exist, wherever the text names them; in an editor only where data may be
    read.
    """
    done: set[int] = set()
    for start, end, path in (*_given_models(edited), *_loaded_models(edited)):
        found = _model_there(edited, path) if start not in done else None
        if found is not None:
            done.add(start)
            yield Link(start, end, url=f"file://{pathname2url(found)}", tooltip=f"Open {path}")


def _given_models(edited: Edited) -> Iterator[tuple[int, int, str]]:
    """Yield the values of options that name models, with variables substituted."""
    for experiment in edited.experiments if edited.language == "cntk" else ():
        for command in experiment.commands:
            for path, found in named_models(command):
                place = found.entry.parts[-1].value
                if edited.is_here(experiment, place.source.name):
                    start, end = place.start, place.end
                    quotes = edited.data[start:end][:1] in (b'"', b"'") and end - start > 2
                    yield start + quotes, end - quotes, path


def _loaded_models(edited: Edited) -> Iterator[tuple[int, int, str]]:
    """Yield the models that statements of BrainScript and MEL load and save."""
    comments = edited.text.comments
    for match in _LOADING.finditer(edited.data):
        if not any(start <= match.start() < end for start, end in comments):
            yield *match.span(1), match.group(1).decode("utf-8", "replace")


def _model_there(edited: Edited, path: str) -> str | None:
    """Return the canonical path of a model's file; None where it does not exist, is not a model, or
    may not be read.
    """
    for experiment in edited.experiments:
        if experiment.files.counted(path, begins_as_model):
            return experiment.files.locate(path)
    return None
