"""The registry: which families of languages there are, and what belongs to which of them.

Commands and servers ask here and name no language.  A family of another program is added by
`register`; nothing in a workspace can do that.
"""

from __future__ import annotations

from netsharp_lsp.cntk.family import FAMILY as CNTK
from netsharp_lsp.family_settings import READERS
from netsharp_lsp.netsharp.family import FAMILY as NET_SHARP

__all__ = [
    "added",
    "adopt",
    "families",
    "families_by_language",
    "family_of",
    "family_of_model",
    "family_of_name",
    "family_with",
    "known_codes",
    "language_by_id",
    "language_for",
    "language_ids",
    "language_of_name",
    "language_of_text",
    "main_family",
    "main_language",
    "read_model",
    "read_network_text",
    "read_numbers",
    "read_portable",
    "register",
    "rules_with",
    "sample_reading",
    "stored_network",
    "stored_weights",
    "suffixes",
    "text_formats",
    "title_of",
    "trained_families",
    "trained_on",
    "with_numbers",
]

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from typing import Any, TypeVar

    from netsharp_engine.cntk.generators import Array
    from netsharp_engine.cntk.samples.given import SampleReading
    from netsharp_engine.exporting.portable import Portable
    from netsharp_engine.model import Model
    from netsharp_lsp.diagnostics.pages import RuleBook
    from netsharp_lsp.family import Family
    from netsharp_lsp.interface import Language
    from netsharp_lsp.outcome import TrainedOn, WrittenNetwork
    from netsharp_lsp.questions import Performance

    Capability = TypeVar("Capability")

#: The families by their ids.  The first is the default.
_families: dict[str, Family] = {}
_by_language: dict[str, Family] = {}
_by_suffix: dict[str, Family] = {}
_by_setting: dict[str, Family] = {}


def register(family: Family) -> None:
    """Add a family; ValueError where one has its id, a language's, a suffix or a key already."""
    ids = dict.fromkeys(family.suffixes.values())
    for taken, given in (
        (_families, (family.id,)),
        (_by_language, ids),
        (_by_suffix, family.suffixes),
        (_by_setting, family.settings),
    ):
        for name in given:
            if name in taken:
                raise ValueError(f"'{name}' belongs to {taken[name].title} already.")
    _families[family.id] = family
    _by_language.update(dict.fromkeys(ids, family))
    _by_suffix.update(dict.fromkeys(family.suffixes, family))
    _by_setting.update(dict.fromkeys(family.settings, family))
    READERS.update(family.settings)


_OURS: tuple[Family, ...] = (
    NET_SHARP,
    CNTK,
)
for _family in _OURS:
    register(_family)


def added() -> tuple[Family, ...]:
    """Return the families that are not ours; they must be picklable, for other processes."""
    return tuple(one for one in _families.values() if one not in _OURS)


def adopt(known: Iterable[Family]) -> None:
    """Register families of the process that has started this one, unless it is its copy."""
    for family in known:
        if family.id not in _families:
            register(family)


def families() -> tuple[Family, ...]:
    """Return every family, the first one first."""
    return tuple(_families.values())


def trained_families() -> str:
    """Return the titles of the families whose texts are trained, as words of a sentence."""
    return " and ".join(one.title for one in families() if one.training is not None)


def main_family() -> Family:
    """Return the default family."""
    return next(iter(_families.values()))


def main_language() -> str:
    """Return the id of the default language."""
    return next(iter(main_family().suffixes.values()))


def family_of(language_id: str) -> Family:
    """Return the family of a language; KeyError where none has the id."""
    return _by_language[language_id]


def families_by_language() -> Mapping[str, Family]:
    """Return every family by the ids of its languages."""
    return _by_language


def family_of_name(name: str) -> Family | None:
    """Return the family of a file by its name; None for an unknown suffix."""
    return _by_suffix.get(_suffix(name))


def family_with(capability: Callable[[Family], Capability | None]) -> Capability:
    """Return the capability of the first family that has it. Raises LookupError where none has."""
    for family in _families.values():
        found = capability(family)
        if found is not None:
            return found
    raise LookupError("no family can do that")


def language_ids() -> tuple[str, ...]:
    """Return the id of every language."""
    return tuple(_by_language)


def suffixes() -> tuple[str, ...]:
    """Return every suffix of a file in one of the languages."""
    return tuple(_by_suffix)


def language_by_id(language_id: str) -> Language:
    """Return a language; KeyError where none has the id."""
    return _by_language[language_id].language(language_id)


def language_of_name(name: str) -> str:
    """Return the id of the language of a file by its name; that of unknown kinds is the main."""
    suffix = _suffix(name)
    family = _by_suffix.get(suffix)
    return main_language() if family is None else family.suffixes[suffix]


def language_for(name: str) -> Language:
    """Return the language of a file by its name; files of unknown kinds are in the main one."""
    return language_by_id(language_of_name(name))


def language_of_text(name: str, data: bytes) -> str | None:
    """Return the language id of a file found by a walk, from its name and its text.

    None where its suffix is not ours, or is another's as well and the text says that it is theirs.
    """
    from netsharp_lsp.interface import Foreign

    family = _by_suffix.get(_suffix(name))
    found = None if family is None else family.recognise(name, data)
    return None if isinstance(found, Foreign) else found


def read_model(path: str) -> Model:
    """Read a model of any program; raises ModelError where it cannot be used."""
    from netsharp_engine.model import load_model

    for family in families():
        opened = None if family.experiments is None else family.experiments.opened(path)
        if opened is not None:
            return opened
    return load_model(path, family_with(lambda family: family.training).build_graph)


def read_numbers(path: str) -> Mapping[str, Array]:
    """Read the weights of a model of any program; raises ModelError where it cannot be used."""
    for family in families():
        found = None if family.experiments is None else family.experiments.numbers(path)
        if found is not None:
            return found
    return read_model(path).tensors


def read_portable(path: str, outputs: Sequence[str]) -> Portable | Model:
    """Read what is exported of a model: named nodes of a network that stands alone, or a model of
    tables; ModelError where it cannot be used.
    """
    from netsharp_engine.model_file import ModelError

    for family in families():
        if family.experiments is not None:
            found = family.experiments.portable(path, outputs)
            if found is not None:
                return found
    if outputs:
        raise ModelError(
            f"{path} is a model of tables, which answers as a whole: leave --output out."
        )
    return read_model(path)


def sample_reading(request: Performance) -> SampleReading:
    """Return the reader of images that the run of a named configuration uses. Raises DataError
    where there is none.
    """
    from netsharp_engine.data import DataError

    for family in families():
        if family.experiments is not None:
            return family.experiments.sample_reading(request)
    raise DataError("no language here has runs, whose readers could read images.")


def trained_on(path: str, label: str, request: Performance) -> TrainedOn | None:
    """Return the samples that a model of another program was trained on, where its run is known,
    and the names of the classes of the input ``label``; raises DataError where there are none.
    """
    family = family_of_model(path)
    if family is None or family.experiments is None:
        return None
    return family.experiments.trained_on(path, label, request)


def text_formats() -> dict[str, str]:
    """Return the languages that networks of models are written back in, and their suffixes."""
    found: dict[str, str] = {}
    for family in families():
        if family.experiments is not None:
            found.update(family.experiments.text_formats)
    return found


def read_network_text(path: str, folder: str) -> WrittenNetwork:
    """Read the network of a model as text, with its numbers in files of a folder; raises
    ModelError where it cannot be used or exported, ExportError where it cannot be written.
    """
    from netsharp_engine.model_file import ModelError

    for family in families():
        if family.experiments is not None:
            found = family.experiments.network_text(path, folder)
            if found is not None:
                return found
    read_model(path)
    raise ModelError(
        f"{path} is a model of a table: `netsharp weights --spec` writes its network as text."
    )


def family_of_model(path: str) -> Family | None:
    """Return the family whose program wrote a model file, None for any other file."""
    for family in families():
        if family.experiments is not None and family.experiments.is_model(path):
            return family
    return None


def with_numbers(path: str, arrays: Mapping[str, Array]) -> bytes:
    """Return the bytes of a model of another program with other numbers in the places of its own;
    ModelError where it is none, or where they do not fit.
    """
    for family in families():
        experiments = family.experiments
        found = None if experiments is None else experiments.with_numbers(path, arrays)
        if found is not None:
            return found
    from netsharp_engine.model_file import ModelError

    raise ModelError(f"{path} is not a model file of another program.")


def stored_network(path: str, *, partial: bool = False) -> dict[str, Any] | None:
    """Return the JSON of `describe` for the network in a model of another program, None for all
    other files. Raises ModelError where it cannot be used; `partial` reads what it can of a damaged
    one.
    """
    found = (
        one.experiments.stored(path, partial=partial)
        for one in families()
        if one.experiments is not None
    )
    return next((one for one in found if one is not None), None)


def stored_weights(path: str, first: int, seconds: float) -> dict[str, Any] | None:
    """Return statistics of the weights of such a model, some at a time, None for all other files.
    Raises ModelError where it cannot be used.
    """
    found = (
        one.experiments.stored_weights(path, first, seconds)
        for one in families()
        if one.experiments is not None
    )
    return next((one for one in found if one is not None), None)


def known_codes() -> tuple[str, ...]:
    """Return every code that has a page, of every language."""
    return tuple(code for rules in _rule_books() for code in rules.codes)


def rules_with(code: str) -> RuleBook:
    """Return the pages of the language that a code belongs to; KeyError where it has no page."""
    for rules in _rule_books():
        if code in rules.codes:
            return rules
    raise KeyError(code)


def title_of(code: str) -> str:
    """Return the title of a rule by its code; KeyError where it has no page."""
    return rules_with(code).title(code)


def _rule_books() -> list[RuleBook]:
    """Return the pages of all languages; several may share theirs."""
    return list(dict.fromkeys(language_by_id(one).rules for one in _by_language))


def _suffix(name: str) -> str:
    dot = name.rfind(".")
    return name[dot:].lower() if dot >= 0 else ""
