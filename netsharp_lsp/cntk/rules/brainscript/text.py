"""Rules on invalid texts of BrainScript, at which CNTK's parser stops."""

from __future__ import annotations

from netsharp_lsp.cntk.brainscript.reading.damage import PARTNERS
from netsharp_lsp.cntk.rules import BRAINSCRIPT, emitted, rule
from netsharp_lsp.cntk.rules.findings import Change, Finding, Note, Repair
from netsharp_lsp.text.expressions import late

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from netsharp_lsp.cntk.brainscript.reading.damage import Damage
    from netsharp_lsp.cntk.run.experiment import Experiment
    from netsharp_lsp.cntk.run.texts import NetworkText

    #: The message and the repair of a damage.
    Described = tuple[str, Repair | None]

#: What a character without a meaning in BrainScript may stand for.
MEANT = {
    "^": "a power is written '**'",
    "&": "'&&' is the only and",
    "|": "'||' is the only or",
    "?": "a choice is written 'if a then b else c'",
    "~": "the opposite is written '!x', or '-x' for numbers",
    "`": "strings are in single or double quotes",
    "\\": "a path may use '/' on every system",
    "@": "names consist of letters, digits and '_'",
    "$": "a variable is written '$name$', and only a configuration replaces it",
}
#: The last word, or run of signs, before a missing token.
LAST_WORD = late(
    rb"(?:(?<![\w\x80-\xff])[\w\x80-\xff]++|(?<![^\w\s\x80-\xff])[^\w\s\x80-\xff]++)\Z"
)
#: The most bytes of a word that are marked or searched: a run of signs may be the whole text.
LONGEST_WORD = 256
#: How a member begins, and how far after a comma it is searched for.
MEMBER = late(rb"\s*[A-Za-z_][\w.]*\s*(\([\w\s,=':]*\)|\[[^\[\]\n]*\])?\s*=(?!=)")
FARTHEST = 512
INSTEAD = {"^": "**", "&": "&&", "|": "||"}


def _operand(text: NetworkText, damage: Damage) -> Described:
    return (
        "A value is missing here: the expression ends, or continues, without one. Write it.",
        None,
    )


def _unclosed(text: NetworkText, damage: Damage) -> Described:
    return (
        f"This '{damage.text}' is never closed: the text, or the member, ends before its"
        f" '{PARTNERS[damage.text]}'. Add it.",
        None,
    )


def _mismatched(text: NetworkText, damage: Damage) -> Described:
    found = text.data[damage.span[0] : damage.span[1]].decode()
    wanted = PARTNERS[damage.text]
    message = f"This '{found}' cannot close '{damage.text}'. Write '{wanted}'."
    return message, _replacing(text, damage, wanted, safe=False)


def _surplus(text: NetworkText, damage: Damage) -> Described:
    message = f"No bracket is open that this '{damage.text}' could close. Remove it."
    return message, _replacing(text, damage, "", safe=False)


def _string(text: NetworkText, damage: Damage) -> Described:
    quote = damage.text[:1]
    message = f"This string has no closing quotation mark: {quote} is missing on the same line."
    end = text.place(damage.span[1], damage.span[1])
    return message, Repair(f"Add {quote}", [Change(end, quote)], safe=False)


def _comment(text: NetworkText, damage: Damage) -> Described:
    message = "This comment is never closed: '*/' is missing, so the rest of the text is part of it"
    if "**/" in damage.text:
        return f"{message}. '**/' does not close a comment: write ' */'.", None
    return f"{message}.", None


def _unexpected(text: NetworkText, damage: Damage) -> Described:
    sign = damage.text[:1]
    meant = MEANT.get(sign)
    message = f"'{sign}' means nothing in BrainScript{f': {meant}' if meant else ''}."
    instead = INSTEAD.get(sign)
    return message, _replacing(text, damage, instead, safe=False) if instead else None


def _junk(text: NetworkText, damage: Damage) -> Described:
    return (
        f"'{_short(damage)}' is not allowed here: the expression before it is complete; a member"
        " begins with 'name ='. Remove it, or write an operator before it.",
        None,
    )


def _semicolon(text: NetworkText, damage: Damage) -> Described:
    message = "A second ';' ends the list of members: the rest is not read. Remove it."
    return message, _replacing(text, damage, "", safe=True)


def _comma(text: NetworkText, damage: Damage) -> Described:
    message = "Members are not separated by commas, but by a new line or ';'."
    after = text.data[damage.span[1] : damage.span[1] + FARTHEST]
    return message, _replacing(text, damage, ";", safe=MEMBER.match(after) is not None)


def _include(text: NetworkText, damage: Damage) -> Described:
    return "'include' is followed by the name of a file in quotes. Write it.", None


def _keyword(text: NetworkText, damage: Damage) -> Described:
    word = damage.text.split()[0]
    return (
        f"'{word}' is a reserved word, allowed neither here nor as a name. Choose another.",
        None,
    )


def _branch(text: NetworkText, damage: Damage) -> Described:
    return (
        f"This 'if' has no '{damage.kind}': every 'if' needs 'then' and 'else', each with a value.",
        None,
    )


def _equals(text: NetworkText, damage: Damage) -> Described:
    return "'=' is missing between the name and its value. Write it.", None


def _definition(text: NetworkText, damage: Damage) -> Described:
    return (
        f"'{damage.text}' is defined without '=': NDL allows that, but BrainScript needs"
        " 'f (x) = { ... }'.",
        None,
    )


def _name(text: NetworkText, damage: Damage) -> Described:
    return "A name is missing here. Write it.", None


def _argument_comma(text: NetworkText, damage: Damage) -> Described:
    message = "A comma is missing here: arguments are separated by commas."
    return message, Repair("Add a comma", [Change(text.place(*damage.span), ",")], safe=False)


def _range(text: NetworkText, damage: Damage) -> Described:
    message = "The bounds of an array are written 'first..last': '..' is missing."
    return message, None


def _number(text: NetworkText, damage: Damage) -> Described:
    return (
        f"The number before '{_short(damage)}' ends here, and a name cannot begin with a digit."
        " Write an operator between them, or begin the name with a letter.",
        None,
    )


def _placeholder(text: NetworkText, damage: Damage) -> Described:
    return (
        "'...' stands for omitted text: CNTK stops here. Names that it may define are not"
        " reported as undefined.",
        None,
    )


#: The code of each kind of damage, and the function that describes it.
DESCRIBED: dict[str, tuple[str, Callable[[NetworkText, Damage], Described]]] = {
    "operand": ("BS001", _operand),
    "unclosed": ("BS002", _unclosed),
    "mismatched": ("BS003", _mismatched),
    "surplus": ("BS004", _surplus),
    "string": ("BS005", _string),
    "comment": ("BS006", _comment),
    "unexpected": ("BS007", _unexpected),
    "junk": ("BS008", _junk),
    "semicolon": ("BS009", _semicolon),
    "comma": ("BS010", _comma),
    "include": ("BS011", _include),
    "keyword": ("BS012", _keyword),
    "then": ("BS015", _branch),
    "else": ("BS015", _branch),
    "equals": ("BS016", _equals),
    "definition-equals": ("BS016", _definition),
    "name": ("BS017", _name),
    "argument-comma": ("BS071", _argument_comma),
    "range": ("BS072", _range),
    "number": ("BS073", _number),
    "placeholder": ("BS078", _placeholder),
}
for _code in sorted({code for code, _ in DESCRIBED.values()} - {"BS001", "BS078"}):
    emitted(_code, "error", language="brainscript")
emitted("BS078", "info", language="brainscript")


@rule("BS001", "error", on=BRAINSCRIPT)
def unreadable(text: NetworkText, experiment: Experiment) -> Iterator[Finding]:
    """Report each syntax error of a text under the code of its kind."""
    if text.traced is not None and text.script.built is None:
        return
    for damage in text.known.damages:
        code, describe = DESCRIBED[damage.kind]
        message, repair = describe(text, damage)
        notes = []
        if damage.kind == "mismatched" and damage.partner is not None:
            notes.append(Note(f"'{damage.text}' is opened here.", text.place(*damage.partner)))
        yield Finding(code, text.place(*_shown(text, damage)), message, notes, repair)


def _shown(text: NetworkText, damage: Damage) -> tuple[int, int]:
    """Return the span to mark; a missing token is marked at the last word before it."""
    start, end = damage.span
    if damage.kind == "comment":
        return start, start + 2
    if end > start:
        return start, end
    return last_word(text.data, start) or (start, end)


def last_word(data: bytes, end: int) -> tuple[int, int] | None:
    """Return the span of the last word before an offset, or of its end if it is long, past any
    blanks.
    """
    end = _without_blanks(data, end)
    begin = max(0, end - LONGEST_WORD)
    # Not in the midst of a character: words reach from one to another.
    while begin < end and data[begin] & 0xC0 == 0x80:
        begin += 1
    word = LAST_WORD.search(data[begin:end])
    return (begin + word.start(), end) if word else None


def _without_blanks(data: bytes, end: int) -> int:
    """Return where the text before an offset ends without blanks, scanning no more than needed."""
    reach = LONGEST_WORD
    while True:
        begin = max(0, end - reach)
        length = len(data[begin:end].rstrip())
        if length or begin == 0:
            return begin + length
        end, reach = begin, reach * 2


def _replacing(text: NetworkText, damage: Damage, by: str, *, safe: bool) -> Repair:
    title = f"Write '{by}'" if by else f"Remove '{_short(damage)}'"
    return Repair(title, [Change(text.place(*damage.span), by)], safe=safe)


def _short(damage: Damage) -> str:
    words = damage.text.split()
    return words[0][:30] if words else damage.text
