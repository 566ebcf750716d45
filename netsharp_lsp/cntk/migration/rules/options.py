"""Rules about the options of functions and the words that they take."""

from __future__ import annotations

from netsharp_lsp.cntk.migration.networks.functions import (
    GRADIENTS,
    INITS,
    OLD_LAYOUT,
    TRUTHS,
    tag_of,
)
from netsharp_lsp.cntk.migration.rules import AUTOMATIC, CHOICE, PERSON, rule
from netsharp_lsp.cntk.ndl.functions import ONLY_2D, ONLY_ND, TRUTH, WORD
from netsharp_lsp.cntk.ndl.functions import TRUTHS as SEVERAL_TRUTHS
from netsharp_lsp.cntk.ndl.syntax import Array, Word
from netsharp_lsp.cntk.vocabulary import PLAIN_TRUTHS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from netsharp_lsp.cntk.migration.editing.edits import Edit, Todo
    from netsharp_lsp.cntk.migration.networks.names import CallSite
    from netsharp_lsp.cntk.migration.networks.network import MigratedNetwork
    from netsharp_lsp.cntk.ndl.syntax import Option

#: Options that a function reads and that are not in its row: they are without effect.
_IGNORED = {"BatchNormalization": ("eval",)}
#: Options that BrainScript's function does not have, and that change nothing.
_WITHOUT_EFFECT = {"Reshape": ("imagelayout",)}


def _options(network: MigratedNetwork) -> Iterator[tuple[CallSite, Option]]:
    """Yield every option of a function of NDL or of a macro."""
    for site in network.names.calls:
        if site.function is not None or site.macro is not None:
            for option in site.arguments.options:
                yield site, option


def _spelling(site: CallSite, option: Option) -> str | None:
    """Return how an option is spelt; None where the function does not have it."""
    if site.function is None:
        return "tag" if option.name.text.lower() == "tag" else option.name.text
    lowered = option.name.text.lower()
    known = (*site.function.options, "tag", *_IGNORED.get(site.function.name, ()))
    return next((one for one in known if one.lower() == lowered), None)


def _word(site: CallSite, option: Option) -> Word | None:
    """Return the word of an option; None for the name of a variable or a list."""
    value = option.value
    if not isinstance(value, Word) or (not value.quoted and site.frame.find(value.text)):
        return None
    return value


def _kind(site: CallSite, option: Option) -> str:
    """Return the kind of an option's value."""
    spelt = _spelling(site, option)
    if spelt == "tag":
        return WORD
    if site.function is None:
        return WORD if _is_only_text(site, option) else ""
    choice = site.function.options.get(spelt or "")
    return choice.kind if choice is not None else ""


def _is_only_text(site: CallSite, option: Option) -> bool:
    """Return whether an option's value for a macro is a word and neither a number nor a truth
    value.
    """
    word = _word(site, option)
    return word is not None and not word.is_number and word.text.lower() not in PLAIN_TRUTHS


def _span(site: CallSite, word: Word) -> tuple[int, int]:
    """Return the span of a word with its quotes."""
    return word.start - word.quoted, word.end + word.quoted


@rule("MG15", AUTOMATIC)
def words(network: MigratedNetwork) -> Iterator[Edit]:
    """Quote the words of options, in the expected case; write truth values as true or false."""
    for site, option in _options(network):
        kind, spelt = _kind(site, option), _spelling(site, option)
        if spelt is not None and spelt != option.name.text:
            yield site.text.edit("MG15", option.name.start, option.name.end, spelt)
        word = _word(site, option)
        if word is not None and kind == WORD and not site.text.is_variable(word.start, word.end):
            written = f'"{_known(spelt or "", word.text)}"'
            yield site.text.edit("MG15", *_span(site, word), written)
        elif kind in (TRUTH, SEVERAL_TRUTHS):
            yield from _truths(site, option)


def _known(option: str, word: str) -> str:
    if option == "init":
        return INITS.get(word.lower(), word)
    return word.lower() if option == "tag" else word


def _truths(site: CallSite, option: Option) -> Iterator[Edit]:
    value = option.value
    for word in value.items if isinstance(value, Array) else (value,):
        if isinstance(word, Word) and site.frame.find(word.text) is None:
            truth = TRUTHS.get(word.text.lower())
            if truth is not None and (truth != word.text or word.quoted):
                yield site.text.edit("MG15", *_span(site, word), truth)


@rule("MG37", CHOICE)
def variables_as_words(network: MigratedNetwork) -> Iterator[Edit]:
    """Quote a variable that replaces the word of an option, in a configuration."""
    for site, option in _options(network):
        word = _word(site, option)
        if word is None or word.quoted or site.text.in_file or _kind(site, option) != WORD:
            continue
        if site.text.is_variable(word.start, word.end):
            written = site.text.written(word.start, word.end)
            yield site.text.edit("MG37", word.start, word.end, f'"{written}"', of_variables=True)


@rule("MG16", AUTOMATIC)
def fixed_values(network: MigratedNetwork) -> Iterator[Edit]:
    """Rewrite a parameter that starts with a fixed value."""
    for site in _parameters(network):
        given = site.arguments
        init, value = given.option("init"), given.option("value")
        word = _word(site, init) if init is not None else None
        if init is None or word is None or word.text.lower() != "fixedvalue":
            continue
        number = "0" if value is None else network.rendered(site.text, site.frame, value.value)
        yield site.text.edit("MG16", *given.span(init), f"initValue={number}")
        if value is not None:
            yield site.text.edit("MG16", *given.without(value), "")


def _parameters(network: MigratedNetwork) -> Iterator[CallSite]:
    for site in network.names.calls:
        if site.function is not None and site.function.form in ("parameter", "image parameter"):
            yield site


@rule("MG17", AUTOMATIC)
def gradients(network: MigratedNetwork) -> Iterator[Edit]:
    """Rewrite the options that set whether a parameter is trained."""
    for site in _parameters(network):
        for option in site.arguments.options:
            if option.name.text.lower() not in GRADIENTS:
                continue
            value = option.value.text if isinstance(option.value, Word) else ""
            if TRUTHS.get(value.lower()) == "false":
                span = site.arguments.span(option)
                yield site.text.edit("MG17", *span, "learningRateMultiplier=0")
            else:
                yield site.text.edit("MG17", *site.arguments.without(option), "")


@rule("MG18", CHOICE, requested=True)
def random_numbers(network: MigratedNetwork) -> Iterator[Edit]:
    """Write NDL's default of where the random numbers of a parameter are drawn."""
    for site in _parameters(network):
        if site.arguments.option("initoncpuonly") is None:
            end = site.arguments.last_end
            yield site.text.edit("MG18", end, end, ", initOnCPUOnly=false")


@rule("MG20", AUTOMATIC)
def hidden_activity(network: MigratedNetwork) -> Iterator[Edit]:
    """Rename `defaultHiddenActivity`."""
    for site, option in _options(network):
        if option.name.text.lower() == "defaulthiddenactivity":
            name = option.name
            yield site.text.edit("MG20", name.start, name.end, "defaultHiddenActivation")


@rule("MG23", AUTOMATIC)
def old_tags(network: MigratedNetwork) -> Iterator[Edit]:
    """Replace the values of `tag` that only NDL knows."""
    for site, option in _options(network):
        word = _word(site, option)
        if word is None or option.name.text.lower() != "tag":
            continue
        wanted = tag_of(word.text)
        if wanted == word.text.lower():
            continue
        if wanted or (site.function is not None and site.function.form in ("input", "image")):
            yield site.text.edit(
                "MG23", option.start, site.arguments.span(option)[1], f'tag="{wanted}"'
            )
        else:
            yield site.text.edit("MG23", *site.arguments.without(option), "")


@rule("MG24", AUTOMATIC)
def tags_of_inputs(network: MigratedNetwork) -> Iterator[Edit]:
    """Tag an input that has no tag."""
    for site in network.names.calls:
        if site.function is None or site.function.form not in ("input", "image"):
            continue
        if site.arguments.option("tag") is None:
            groups = network.facts.groups.get(site.place, set())
            tag = next(iter(groups)) if len(groups) == 1 else ""
            end = site.arguments.last_end
            yield site.text.edit("MG24", end, end, f', tag="{tag}"')


@rule("MG25", CHOICE)
def layouts(network: MigratedNetwork) -> Iterator[Edit]:
    """Write an image's layout that is not given."""
    for site in network.names.calls:
        if site.function is None or site.function.name not in OLD_LAYOUT:
            continue
        if site.arguments.option("imagelayout") is None:
            end = site.arguments.last_end
            yield site.text.edit("MG25", end, end, ', imageLayout="HWC"')


@rule("MG32", PERSON)
def unknown_options(network: MigratedNetwork) -> Iterator[Edit | Todo]:
    """Drop an option that the function does not have."""
    for site, option in _options(network):
        if not _is_unknown(site, option):
            continue
        start, end = site.arguments.without(option)
        yield site.text.edit("MG32", start, end, "")
        assert site.function is not None
        message = (
            f"'{site.function.name}' has no option '{option.name.text}'; NDL ignores it. It is "
            "dropped: check what it was meant to do."
        )
        yield site.text.todo("MG32", (option.start, option.end), message)


def _is_unknown(site: CallSite, option: Option) -> bool:
    if site.function is None:
        return False
    spelt = _spelling(site, option)
    if spelt is None:
        return True
    if option.name.text.lower() in _WITHOUT_EFFECT.get(site.function.name, ()):
        return True
    if site.function.form != "convolution":
        return False
    flat = len(site.arguments.positional) == 7
    return spelt in (ONLY_ND if flat else ONLY_2D)
