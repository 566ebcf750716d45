"""Rules on characters: those that no Net# text contains, look-alikes, text of a host program."""

from __future__ import annotations

from netsharp_lsp.netsharp.findings import Change, Finding, RelativeSpan, Repair, Rests
from netsharp_lsp.netsharp.meaning.values.attributes import PADDING_WORDS
from netsharp_lsp.netsharp.reading.characters import ENTITIES, replacement
from netsharp_lsp.netsharp.rules import NETWORK, rule
from netsharp_lsp.text.expressions import late
from netsharp_lsp.text.spans import Spans

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from netsharp_lsp.netsharp.meaning.network import Network
    from netsharp_lsp.netsharp.reading.characters import Mark

#: From this many look-alikes on, each fix replaces its own run only.
MANY = 100
#: A value in quotes, and the name that it is given to, within this many bytes before it.
QUOTED = late(rb"""(["'])(\w+)\1""")
NAMED = late(rb"([A-Za-z_]\w*)\s*[=:]\s*\Z")
REACH = 80


def shown(text: str) -> str:
    """Return a character in quotes, by code and name where it is invisible."""
    if text.isprintable() and not text.isspace():
        return f"'{text}'"
    from unicodedata import name

    return " ".join(
        f"U+{ord(c):04X}" + (f" ({name(c).lower()})" if name(c, "") else "") for c in text[:3]
    )


def marks(network: Network, *kinds: str) -> Iterator[tuple[Mark, RelativeSpan]]:
    """Yield the foreign runs of some kinds, with their places."""
    if network.doubts.foreign:
        return
    for mark in network.doubts.marks:
        if mark.kind in kinds:
            yield mark, RelativeSpan(None, mark.start, mark.end)


@rule("NS001", "error", on=NETWORK, rests=Rests.TEXT)
def unexpected_character(network: Network, _: Network) -> Iterator[Finding]:
    """Report a character that no token of Net# contains, and markup of HTML and Markdown."""
    reported = -1
    stretches = Stretches(network)
    for mark, place in marks(network, "illegal", "entity", "fence"):
        rubbish = stretches.around(place)
        if rubbish is not None:
            if rubbish.start != reported:
                yield unexpected(network, rubbish)
            reported = rubbish.start
            continue
        text, hint = "", ""
        if mark.kind == "entity":
            text = ENTITIES[mark.text]
            hint = f" This is how web pages write '{text}'."
        elif mark.kind == "fence":
            hint = " They belong to the Markdown around the specification."
        title = f"Replace by '{text}'" if text else "Delete it"
        plural = "s" if len(mark.text) > 1 else ""
        message = f"Unexpected character{plural} {shown(mark.text)}.{hint}"
        yield Finding(
            "NS001", place, message, repair=Repair(title, [Change(place, text)], safe=True)
        )
    for comment in network.specification.comments.odd():
        if comment.kind == "html":
            place = RelativeSpan(None, comment.start, comment.end)
            message = (
                "Unexpected characters '<!--': this is a comment of HTML, probably from a web "
                "page; Net# comments start with '//'."
            )
            repair = Repair("Delete the HTML comment", [Change(place, "")], safe=True)
            yield Finding("NS001", place, message, repair=repair)


def unexpected(network: Network, place: RelativeSpan) -> Finding:
    """Return the finding for a stretch without any word."""
    text = network.text(place)
    repair = Repair("Delete them", [Change(place, "")], safe=True)
    return Finding("NS001", place, f"Unexpected characters {shown(text)}.", repair=repair)


class Stretches:
    """The unparsed stretches of a network's text that contain no word at all."""

    def __init__(self, network: Network) -> None:
        self.network = network
        self._wordless: dict[tuple[int, int], bool] = {}

    def around(self, place: RelativeSpan) -> RelativeSpan | None:
        """Return the stretch around a character, if it is longer than that."""
        span = self.network.doubts.unread.around(place.start, place.end)
        if span is None or span == (place.start, place.end):
            return None
        whole = RelativeSpan(None, *span)
        if span not in self._wordless:
            text = self.network.text(whole)
            self._wordless[span] = not any(c.isalnum() or c in "\r\n" for c in text)
        return whole if self._wordless[span] else None


@rule("NS006", "error", on=NETWORK, rests=Rests.TEXT)
def lookalike(network: Network, _: Network) -> Iterator[Finding]:
    """Report a full-width or typographic character where Net# has a plain one."""
    found = list(marks(network, "lookalike"))
    changes = [Change(place, replacement(mark.text)) for mark, place in found]
    every = Repair("Replace every look-alike character", changes, safe=True)
    for (mark, place), change in zip(found, changes, strict=True):
        if len(mark.text) == 1:
            message = (
                f"Character {shown(mark.text)} looks like {meant(change.text)} but is a "
                "different character."
            )
        else:
            message = (
                f"Characters {shown(mark.text)} look like {meant(change.text)} but are "
                "different characters."
            )
        repair = every
        if len(found) > MANY:
            repair = Repair(f"Replace by {meant(change.text)}", [change], safe=True)
        yield Finding("NS006", place, message, repair=repair)


def meant(text: str) -> str:
    """Return the plain characters in words."""
    return "a space" if text == " " else f"'{text}'"


@rule("NS029", "error", on=NETWORK, rests=Rests.TEXT)
def host_program(network: Network, _: Network) -> Iterator[Finding]:
    """Report quotes, pastes and line ends of the R, Python or C# program around it."""
    stretches = Stretches(network)
    starts = network.specification.starts
    lost = Spans(
        (starts[declaration], starts[declaration] + declaration.end)
        for declaration in network.specification.doubtful
        if declaration.kind == "error"
    )
    for mark, place in marks(network, "quote", "backslash"):
        rubbish = stretches.around(place)
        if rubbish is not None and holds_rubbish(network.text(rubbish)):
            continue
        what = "quotes" if mark.kind == "quote" else "backslashes"
        message = (
            f"This looks like text of the host program: Net# has no {what}. "
            "Keep only the specification in this file."
        )
        whole = statement(network, place, lost)
        repair = Repair("Delete it", [Change(whole, "")], safe=False)
        if quoted := value_in_quotes(network, whole):
            message, repair = quoted
        yield Finding("NS029", whole, message, repair=repair)


def value_in_quotes(network: Network, place: RelativeSpan) -> tuple[str, Repair] | None:
    """Return the sentence and the repair of `Padding = "same"`: a value in quotes."""
    start, end = place.offsets(network.specification)
    data = network.specification.data
    word = QUOTED.fullmatch(data, start, end)
    before = NAMED.search(data, max(0, start - REACH), start)
    if word is None or before is None:
        return None
    text = word[2].decode()
    meant = PADDING_WORDS.get(text.lower()) if before[1].lower() in (b"padding", b"pad") else None
    message = f"Net# has no quotes: write {text} without them."
    if meant is not None:
        message = f"Net# has no quotes; what other tools call '{text}' is Padding = {meant}."
    instead = meant or text
    return message, Repair(f"Replace by {instead}", [Change(place, instead)], safe=False)


def holds_rubbish(text: str) -> bool:
    """Return whether a stretch contains a character that is neither a quote nor one of Net#."""
    return any(character in "@$?~`" or not character.isascii() for character in text)


def statement(network: Network, place: RelativeSpan, lost: Spans) -> RelativeSpan:
    """Return the whole of a line's unparsed text around a quote: `net <- ("`, `")`."""
    span = lost.around(place.start, place.end)
    if span is None or any(mark in network.specification.data[slice(*span)] for mark in b"\r\n"):
        return place
    return RelativeSpan(None, *span)
