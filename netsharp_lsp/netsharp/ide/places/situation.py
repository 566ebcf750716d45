"""The text that may be written at a cursor, from the words before it: valid also in broken text.

The parser sees whole declarations; here only what is before the cursor counts, from the start of
its declaration on. It knows the order of words in Net# and no meaning.
"""

from __future__ import annotations

import re

from netsharp_lsp.netsharp.ide.places.subjects import index_at
from netsharp_lsp.netsharp.reading.mistakes import DEBRIS, SECTION_WORDS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from netsharp_lsp.netsharp.reading.specification import Specification

TOKEN = re.compile(
    rb"//[^\r\n]*|/\*.*?(?:\*/|\Z)|[A-Za-z_]\w*|[\d.][\w.]*|=>|==|<=|>=|!=|&&|\|\||[^\s]", re.DOTALL
)
NEXT_ATTRIBUTE = re.compile(rb"//[^\r\n]*|([A-Za-z_]\w*)\s*=(?![=>])|[{}]")
WORD_BEFORE = re.compile(rb"[A-Za-z_]\w*\Z")
WORD_AFTER = re.compile(rb"\w*")
#: More text before the cursor in one declaration is trained weights: nothing is proposed there.
LONGEST = 40_000
#: The bytes after the cursor that are searched for attributes given already.
AHEAD = 2_000
#: The most unparsed pieces before the cursor that are read with what is before them.
MOST_DEBRIS = 6
OPENINGS = {"(": ")", "[": "]"}


class Bracket:
    """An open bracket of an expression: `function` is set for a call, `index` counts commas."""

    __slots__ = ("function", "index", "mark", "target")

    def __init__(self, mark: str, before: str) -> None:
        named = before[:1].isalpha() or before[:1] == "_"
        self.mark = mark
        self.function = before if named and mark == "(" else ""
        self.target = before if named and mark == "[" else ""
        self.index = 0


class Situation:
    """The kind of text that may be written at a cursor.

    `expected` names it: "section", "name", "size", "size entry", "after size", "after activation",
    "source", "kind", "pool", "norm", "where", "parameter", "condition", "open", "end", "body",
    "attribute", "equals", "value", "constant", "operator", "share". `layer`, `source`, `kind`,
    `attribute` are the words it belongs to, "" for none. `given` are the attributes of the block in
    lower case. `start` and `end` span the word at the cursor.
    """

    __slots__ = (
        "attribute",
        "before",
        "brackets",
        "end",
        "entries",
        "expected",
        "given",
        "kind",
        "layer",
        "parameters",
        "section",
        "source",
        "start",
    )

    def __init__(self, start: int, end: int) -> None:
        self.start = start
        self.end = end
        self.expected = "section"
        self.section = ""
        self.layer = ""
        self.source = ""
        self.kind = ""
        self.attribute = ""
        #: The word or mark right before the cursor's word.
        self.before = ""
        self.given: set[str] = set()
        self.parameters: list[str] = []
        self.brackets: list[Bracket] = []
        #: The words of a share so far.
        self.entries: list[str] = []


def situation_at(specification: Specification, offset: int) -> Situation | None:
    """Return the completion context at an offset; None in comments and long lists of numbers."""
    if _in_comment(specification, offset):
        return None
    data = specification.data
    base = _beginning(specification, offset)
    if offset - base > LONGEST:
        return None
    word = WORD_BEFORE.search(data, max(base, offset - 200), offset)
    start = word.start() if word else offset
    rest = WORD_AFTER.match(data, offset)
    end = rest.end() if rest and (word or data[offset : offset + 1].isalpha()) else offset
    situation = Situation(start, end)
    _Reader(data, base, situation).read()
    if situation.expected == "attribute":
        situation.given |= _given_after(data, end)
    return situation


def _in_comment(specification: Specification, offset: int) -> bool:
    """Return whether a cursor is in a comment; the end of one that ends with its line counts."""
    found = specification.comments.around(offset - 1)
    return found is not None and (found.kind not in ("block", "html") or offset < found.end)


def _beginning(specification: Specification, offset: int) -> int:
    """Return where the declaration of an offset starts; unparsed pieces belong to the one above."""
    number = index_at(specification, offset)
    for _ in range(MOST_DEBRIS):
        if number <= 0 or specification.declarations[number].kind not in DEBRIS:
            break
        number -= 1
    return specification.starts[specification.declarations[number]] if number >= 0 else 0


def _given_after(data: bytes, at: int) -> set[str]:
    """Return the attributes of a block after the cursor."""
    found = set()
    for match in NEXT_ATTRIBUTE.finditer(data, at, at + AHEAD):
        if match[0] in (b"{", b"}"):
            break
        if match[1]:
            found.add(match[1].decode().lower())
    return found


class _ReachedError(Exception):
    """The cursor is reached."""


class _Reader:
    """Reads words up to the cursor and notes what may come next."""

    def __init__(self, data: bytes, base: int, situation: Situation) -> None:
        found = (match[0] for match in TOKEN.finditer(data, base, situation.start))
        self.tokens = [
            token.decode("utf-8", "replace")
            for token in found
            if not token.startswith((b"//", b"/*"))
        ]
        self.at = 0
        self.situation = situation

    def read(self) -> None:
        """Read declarations until the cursor."""
        try:
            while True:
                self.declaration()
        except _ReachedError:
            self.situation.before = self.tokens[-1] if self.tokens else ""

    def take(self, expected: str) -> str:
        """Return the next word; where there is none, `expected` may be written at the cursor."""
        if self.at == len(self.tokens):
            self.situation.expected = expected
            raise _ReachedError
        self.at += 1
        return self.tokens[self.at - 1]

    def give_back(self) -> None:
        """Put the last word back into the input."""
        self.at -= 1

    def declaration(self) -> None:
        """Read `const`, `input`, `hidden`, `output` or `share`, and what follows."""
        word = self.take("section").lower()
        if word not in SECTION_WORDS:
            return
        situation = self.situation
        situation.section = word
        if word == "share":
            self.share()
        else:
            self.items(self.constant if word == "const" else self.layer)
        situation.section = situation.layer = situation.source = situation.kind = ""

    def items(self, item: Callable[[str], None]) -> None:
        """Read one item, or several in braces."""
        name = self.take("name")
        if name != "{":
            item(name)
            return
        while (name := self.take("name")) != "}":
            if name != ";":
                item(name)

    def constant(self, name: str) -> None:
        """Read `Name = value;`."""
        self.situation.layer = name
        if self.take("equals") == "=":
            self.expression("constant", (";",))
        self.situation.layer = ""

    def layer(self, name: str) -> None:
        """Read `Name size activation` and its connections."""
        self.situation.layer = name
        if self.take("size") == "[":
            self.entries("size entry")
        if self.situation.section == "input":
            self.take("end")
            return
        word = self.take("after size").lower()
        if word not in ("from", "{", ";") and word not in SECTION_WORDS:
            word = self.take("after activation").lower()
        if word == "from":
            self.bundle()
        elif word == "{":
            self.body()
        elif word in SECTION_WORDS:
            self.give_back()

    def entries(self, expected: str) -> None:
        """Read the entries of a tuple whose bracket is read."""
        self.give_back()
        self.expression(expected, ())

    def body(self) -> None:
        """Read connections and biases in braces."""
        while (word := self.take("body").lower()) != "}":
            if word == "from":
                self.bundle()
            elif word == "biases":
                self.attribute(word, "biases")

    def bundle(self) -> None:
        """Read a source and its kind."""
        situation = self.situation
        situation.source = self.take("source")
        word = self.take("kind").lower()
        situation.kind = word
        if word in ("max", "mean"):
            situation.kind = f"{word} {self.take('pool').lower()}"
        elif word == "response":
            situation.kind = f"{word} {self.take('norm').lower()}"
        if word == "where":
            last = self.condition()
        else:
            last = word if word in (";", "}") else self.take("end" if word == "all" else "open")
        if last == "{":
            self.block()
        elif last.lower() in SECTION_WORDS or last == "}":
            self.give_back()
        situation.source = situation.kind = ""
        situation.parameters = []

    def condition(self) -> str:
        """Read `(s, d) => condition`; return the mark that ends it."""
        while (word := self.take("parameter" if self.situation.before else "where")) != "=>":
            if word in (";", "{", "}"):
                return word
            self.situation.before = word
            if word[:1].isalpha() or word[:1] == "_":
                self.situation.parameters.append(word)
        return self.expression("condition", (";", "{"), "=>")

    def block(self) -> None:
        """Read the attributes of a connection."""
        situation = self.situation
        situation.given = set()
        while (word := self.take("attribute")) != "}":
            if word != ";" and not self.attribute(word, word.lower()):
                break
        situation.given = set()

    def attribute(self, name: str, key: str) -> bool:
        """Read `Name = value;`; return whether the block continues."""
        situation = self.situation
        situation.attribute = name
        situation.given.add(key)
        last = self.take("equals")
        if last == "=":
            last = self.expression("value", (";", "}"))
        situation.attribute = ""
        return last != "}"

    def share(self) -> None:
        """Read the entries of a share."""
        situation = self.situation
        situation.entries = []
        if self.take("open share") != "{":
            self.give_back()
            return
        while (word := self.take("share")) != "}":
            situation.entries.append(word)
        situation.entries = []

    def expression(self, expected: str, ends: tuple[str, ...], before: str = "=") -> str:
        """Read an expression after a mark; return the mark after it.

        `ends` empty: one tuple, read whole.
        """
        brackets = self.situation.brackets = []
        while True:
            operand = before in (")", "]") or before[:1].isalnum() or before[:1] in "_."
            word = self.take("operator" if operand else expected)
            if word in ("[", "("):
                brackets.append(Bracket(word, before))
            elif word in (")", "]") and brackets:
                brackets.pop()
                if not brackets and not ends:
                    return word
            elif word == "," and brackets:
                brackets[-1].index += 1
            elif word in (";", "{", "}") or (not brackets and word in ends):
                break
            elif word.lower() in SECTION_WORDS:
                self.give_back()
                return ";"
            before = word
        self.situation.brackets = []
        return word
