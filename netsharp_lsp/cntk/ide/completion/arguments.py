"""Completion in a call: named arguments, and the words that are values of an argument."""

from __future__ import annotations

import re

from netsharp_lsp.cntk.ide.completion.place import since
from netsharp_lsp.cntk.ide.meanings.words import argument_words
from netsharp_lsp.cntk.ide.places.calls import call_at
from netsharp_lsp.cntk.library.versions import of_parameter, of_start
from netsharp_lsp.cntk.mel.functions import MODEL, PROPERTIES, meant, property_meant
from netsharp_lsp.cntk.versions import ALWAYS
from netsharp_lsp.cntk.vocabulary import PLAIN_TRUTHS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from netsharp_lsp.cntk.ide.completion.place import Writing
    from netsharp_lsp.cntk.ide.places.calls import CallAt
    from netsharp_lsp.cntk.ide.places.edited import Edited
    from netsharp_lsp.cntk.versions import Releases
    from netsharp_lsp.ide.answers import Completion

_NAMED = re.compile(rb"([A-Za-z_]\w*)[ \t]*=[ \t]*[\"']?\Z")
#: The most bytes before the cursor that are searched for a name.
_FAR = 200


def values(edited: Edited, writing: Writing) -> list[Completion] | None:
    """Return the words that the current argument may be; None where it may be anything."""
    call = call_at(edited, writing.start)
    if call is None or (writing.before != b"=" and writing.string is None):
        return _properties(edited, writing)
    name = call.named or _named_before(edited.data, writing.start)
    quoted = writing.string is None and call.language == "brainscript"
    words = argument_words(name, call.language)
    found = [
        writing.proposal(
            f'"{word}"' if quoted else word,
            "value",
            0,
            detail=since(description, _known(call, word)),
        )
        for word, description in words.items()
        if edited.main.may_have(_known(call, word))
    ]
    return found or ([] if writing.string is not None and edited.language != "mel" else None)


def _known(call: CallAt, word: str) -> Releases:
    """Return the versions of CNTK that know a way to start a parameter of BrainScript."""
    return of_start(word) if call.language == "brainscript" else ALWAYS


def _named_before(data: bytes, offset: int) -> str:
    """Return the name whose equals sign is directly before an offset, or before a quote there."""
    found = _NAMED.search(data, max(0, offset - _FAR), offset)
    return found.group(1).decode() if found is not None else ""


def _properties(edited: Edited, writing: Writing) -> list[Completion] | None:
    """Return the properties of nodes where MEL expects one, and the values of a given one."""
    call = call_at(edited, writing.start)
    function = meant(call.name) if call is not None and call.language == "mel" else None
    if call is None or function is None or call.active >= len(function.parameters):
        return None
    wanted = function.parameters[call.active][0]
    if wanted == "value":
        found = property_meant(_argument_before(edited, writing))
        is_truth = found is not None and (found[0].kind in ("group", "truth") or bool(found[1]))
        words = PLAIN_TRUTHS if is_truth else ()
        return [writing.proposal(word, "value", 0) for word in words]
    if wanted != "property":
        return None
    return [
        writing.proposal(one.name, "value", 0, detail=one.documentation)
        for one in PROPERTIES
        if one.kind != "nothing"
    ]


def _argument_before(edited: Edited, writing: Writing) -> str:
    """Return the argument before the current one, as far as it is on the same line."""
    line = edited.text.lines.span(edited.text.lines.line_at(writing.start))[0]
    arguments = edited.data[line : writing.start].decode("utf-8", "replace").split(",")
    return arguments[-2].strip() if len(arguments) > 1 else ""


def kind_of_mel(edited: Edited, writing: Writing) -> str | None:
    """Return the kind of the current argument of a function of MEL; None outside such calls."""
    call = call_at(edited, writing.start)
    function = meant(call.name) if call is not None and call.language == "mel" else None
    if call is None or function is None:
        return None
    if not function.parameters:
        return ""
    name, kind = function.parameters[min(call.active, len(function.parameters) - 1)]
    return MODEL if name == "name" else kind


def names(edited: Edited, writing: Writing) -> Iterator[Completion]:
    """Yield the optional arguments of a call that are not given yet."""
    if writing.before not in (b"(", b"{", b","):
        return
    call = call_at(edited, writing.start)
    if call is None:
        return
    given = {name.lower() for name in call.given} - {writing.word.lower()}
    for parameter in call.parameters:
        name, equals, default = parameter.partition("=")
        name = name.strip()
        if not equals or name.lower() in given:
            continue
        known = of_parameter(call.called, name) if call.language == "brainscript" else ALWAYS
        if not edited.main.may_have(known):
            continue
        label = f"{name}="
        detail = f"default {default.strip()}" if call.language != "mel" else default
        detail = since(detail, known)
        insert = name if writing.assigned else f"{name}=$0"
        plain = name if writing.assigned else label
        meaning = f"argument:{name}" if call.meaning_of(parameter) else ""
        yield writing.proposal(
            label, "attribute", 0, insert, plain=plain, detail=detail, topic=meaning
        )
