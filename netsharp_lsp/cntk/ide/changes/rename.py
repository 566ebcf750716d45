"""Renames a name wherever it occurs in the files of the runs, or explains why not."""

from __future__ import annotations

import re

from netsharp_lsp.cntk.ide.changes.streams import alias_edits
from netsharp_lsp.cntk.ide.places.edited import Edited
from netsharp_lsp.cntk.library import PREFIX
from netsharp_lsp.cntk.vocabulary import KEYWORDS
from netsharp_lsp.ide.answers import Changes, FileEdits, Refusal, Renaming
from netsharp_lsp.text.edits import Edit, apply_edits

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from netsharp_lsp.cntk.ide.naming.occurrence import Occurrence

_NAME = re.compile(r"[A-Za-z_]\w*\Z")
#: Members of a network that CNTK itself looks for.
SPECIAL = frozenset(
    f"{group}nodes" for group in ("feature", "label", "criterion", "evaluation", "output", "eval")
)
#: What names of keys in a configuration are called.
_KEYS = ("key", "section")
NOTHING = Refusal("There is no name here that can be renamed.")


def renaming_at(edited: Edited, offset: int) -> Renaming | Refusal:
    """Return the name at an offset, if it can be renamed."""
    found = edited.occurrence_at(offset)
    if found is None:
        return NOTHING
    reason = _fixed(edited, found)
    return reason or Renaming(found.start, found.end, found.name)


def rename(edited: Edited, offset: int, name: str) -> Changes | Refusal:
    """Return the changes in all files that rename the name at an offset."""
    found = edited.occurrence_at(offset)
    if found is None:
        return NOTHING
    reason = _fixed(edited, found) or _unfit(found, name)
    if reason is not None:
        return reason
    by_file: dict[str, list[Edit]] = {}
    for one in edited.same(found):
        by_file.setdefault(one.file, []).append(Edit(one.start, one.end, name))
    reason = _changed_meaning(edited, by_file, name)
    if reason is not None:
        return reason
    for file, edit in alias_edits(edited, edited.same(found), name):
        by_file[file] = sorted([*by_file[file], edit], key=lambda one: one.start)
    own = tuple(by_file.pop(edited.name, ()))
    return Changes(own, tuple(FileEdits(file, tuple(edits)) for file, edits in by_file.items()))


def _fixed(edited: Edited, found: Occurrence) -> Refusal | None:
    """Return why a name cannot be renamed."""
    if found.key[1].startswith(PREFIX):
        return Refusal(
            f"'{found.name}' belongs to the library; only your own names can be renamed."
        )
    if found.kind != "key" and found.name.lower() in SPECIAL:
        return Refusal(f"'{found.name}' is a name that CNTK itself looks for.")
    if found.kind == "key" and not any(
        not one.declares for one in edited.occurrences if one.key == found.key
    ):
        return Refusal(f"'{found.name}' is an option of CNTK's; no other text refers to it.")
    if not any(one.declares for one in edited.same(found)):
        return Refusal(f"'{found.name}' is not declared in a file that can be changed.")
    if found.kind in _KEYS and _is_option(edited, found):
        return Refusal(f"'{found.name}' is an option of CNTK's, which looks for it by that name.")
    return None


def _is_option(edited: Edited, found: Occurrence) -> bool:
    """Return whether CNTK reads a key as an option, whatever else refers to it."""
    declared = {(one.file, one.start) for one in edited.same(found) if one.declares}
    for experiment in edited.experiments:
        for visit in experiment.visits:
            option = visit.option(found.name) if visit.table.find(found.name) is not None else None
            for part in option.entry.assignments if option is not None else ():
                place = part.key
                if (experiment.files.locate(place.source.name), place.start) in declared:
                    return True
    return False


def _unfit(found: Occurrence, name: str) -> Refusal | None:
    """Return why a new name is not valid."""
    if _NAME.match(name) is None:
        return Refusal(
            f"'{name}' is not a valid name: use letters, digits and '_', not beginning with a "
            "digit."
        )
    if found.kind != "key" and name in KEYWORDS:
        return Refusal(f"'{name}' is a keyword of BrainScript.")
    return None


def _changed_meaning(
    edited: Edited, by_file: Mapping[str, list[Edit]], name: str
) -> Refusal | None:
    """Return a refusal if any name would change its meaning, found by analysing the result."""
    texts = {
        file: apply_edits(data, edits)
        for file, edits in by_file.items()
        if (data := edited.read(file)) is not None
    }
    after = Edited(edited.language, texts.get(edited.name, edited.data), edited.context, texts)
    meanings = {(one.file, one.start): one.key for one in after.occurrences}

    def moved(file: str, start: int) -> int:
        edits = by_file.get(file, ())
        return start + sum(
            len(edit.text.encode()) - edit.end + edit.start for edit in edits if edit.end <= start
        )

    for one in edited.occurrences:
        language, file, start = one.key
        wanted = (language, file, moved(file, start))
        if meanings.get((one.file, moved(one.file, one.start))) != wanted:
            return Refusal(f"'{name}' is taken: '{one.name}' would change its meaning.")
    if len(after.occurrences) != len(edited.occurrences):
        return Refusal(f"'{name}' is taken: other names would change their meaning.")
    return None
