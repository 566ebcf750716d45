"""Reads the numbers, words and lists among a call's arguments; an unknown value is None.

Resolves names as CNTK does, and reports values that are not numbers.
"""

from __future__ import annotations

import re

from netsharp_lsp.cntk.ndl.functions import FUNCTIONS, function_of
from netsharp_lsp.cntk.ndl.symbols import (
    ARRAY,
    HOLE,
    NUMBER,
    OPTION,
    PARAMETER,
    UNDETERMINED,
    text_of,
)
from netsharp_lsp.cntk.ndl.syntax import Array, Option, Word, place_of
from netsharp_lsp.cntk.networks.faults import Place
from netsharp_lsp.cntk.networks.node import OPAQUE
from netsharp_lsp.cntk.vocabulary import TRUE, TRUTHS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from netsharp_lsp.cntk.ndl.assembly import Assembly
    from netsharp_lsp.cntk.ndl.functions import NdlFunction
    from netsharp_lsp.cntk.ndl.symbols import Frame, Item
    from netsharp_lsp.cntk.ndl.syntax import Value

_WHOLE = re.compile(r"[+-]?[0-9]+\Z")
_INFINITE = re.compile(r"1#inf", re.IGNORECASE)
#: Dimensions from here on are rejected: CNTK reads them as 64-bit floating-point numbers.
LARGEST = 2**53


class NdlArguments:
    """The arguments of one call of a function."""

    def __init__(self, assembly: Assembly, item: Item) -> None:
        self.assembly = assembly
        self.item = item
        self.positional: list[Item] = []
        #: The options by their names in lower case; of several, the first one.
        self._options: dict[str, Item] = {}
        for one in item.arguments:
            if one.kind == OPTION:
                self._options.setdefault(one.name.lower(), one)
            else:
                self.positional.append(one)

    def given(self, name: str) -> Item | None:
        """Return the option of a name, None if it is not given."""
        return self._options.get(name.lower()) if self._options else None

    @property
    def function(self) -> NdlFunction:
        """Return the function that is called."""
        return FUNCTIONS[self.item.value]

    def fault(self, kind: str, message: str, at: Item | Place | None = None) -> None:
        """Record a fault of the call or one of its arguments."""
        if at is None:
            at = self.item.place
        place = at if isinstance(at, Place) else self.item.use(at)
        self.assembly.faults.add(kind, message, place)

    def scalar(self, item: Item, at: Place | None = None, name: str = "") -> str | None:
        """Return the text of a number that an argument, or a name at a place, evaluates to; None if
        there is none.
        """
        at = self.item.use(item) if at is None else at
        name = name or item.value
        found: Item | None = item
        seen = set()
        while found is not None and found.kind == PARAMETER and id(found) not in seen:
            seen.add(id(found))
            found = found.home.find(found.value)
        if found is not None and found.kind == UNDETERMINED:
            found = self._later(name, found, at)
            if found is None:
                return None
        if found is not None and found.kind in (NUMBER, HOLE):
            return found.value if found.kind == NUMBER else None
        if found is not None and found.kind == OPTION:
            self._note_option(found, at)
        else:
            self._no_number(item, found, at, name)
        return None

    def _later(self, name: str, found: Item, at: Place) -> Item | None:
        """Resolve a name that had no value when it was read; outside macros it stays without."""
        known = found.home.find(found.name)
        if known is None or known.kind == UNDETERMINED or known is found:
            self._unknown(name, found.name, at)
            return None
        if found.home.macro:
            message = (
                f"CNTK does not find the number '{found.name}' here: in a call within a"
                " macro's call it stops at the macro's parameters. Give the inner call a name"
                " in a statement of its own."
            )
            self.fault("nested-number", message, at)
            return known
        message = (
            f"'{found.name}' gets its value only further down: define a number before its use."
        )
        self.fault("used-before-definition", message, at)
        return known

    def _note_option(self, option: Item, at: Place) -> None:
        """Report an option of a macro's call that is used as a number within it."""
        message = (
            f"CNTK cannot use the option '{option.name}' of a macro's call as a number: make it a"
            " parameter of the macro."
        )
        self.fault("macro-option", message, at)

    def _unknown(self, used: str, name: str, at: Place) -> None:
        """Report an undefined name; `used` is the one written in the call."""
        name, at = self.item.home.origin(used) or (name, at)
        self.fault("unknown-name", f"'{name}' is not defined here.", at)

    def _no_number(self, item: Item, found: Item | None, at: Place, name: str) -> None:
        if found is None or found.kind == PARAMETER:
            self._unknown(name, item.value, at)
            return
        if found.value != OPAQUE:
            message = f"'{text_of(item.syntax)}' is not a number, but one is needed."
            self.fault("no-number", message, at)

    def whole(self, number: int) -> int | None:
        """Return a positional argument that is an integer."""
        item = self.positional[number]
        return self._whole(self.scalar(item), item)

    def _whole(self, text: str | None, at: Item) -> int | None:
        if text is None:
            return None
        if not _WHOLE.match(text):
            self.fault("no-number", f"'{text}' is not an integer, but one is needed.", at)
            return None
        value = int(text[:40])
        if not -LARGEST < value < LARGEST:
            self.fault("dimension", f"{text} is larger than CNTK can represent.", at)
            return None
        return value

    def dimension(self, number: int) -> int | None:
        """Return a positional argument that is a size."""
        return self._counted(self.whole(number), self.positional[number])

    def _counted(self, value: int | None, at: Item) -> int | None:
        if value is not None and value < 0:
            self.fault("dimension", f"a dimension is an integer of at least 0, not {value}.", at)
            return None
        return value

    def real(self, number: int) -> float | None:
        """Return a positional argument that is a number."""
        item = self.positional[number]
        return self._real(self.scalar(item), item)

    def _real(self, text: str | None, at: Item) -> float | None:
        if text is None:
            return None
        if _INFINITE.match(text):
            return float("inf")
        try:
            return float.fromhex(text) if "x" in text.lower() else float(text)
        except (ValueError, OverflowError):
            self.fault("no-number", f"'{text}' is not a number, but one is needed.", at)
            return None

    def option_word(self, name: str) -> str | None:
        """Return the text of an option, or its default."""
        item = self.given(name)
        if item is None:
            return self.function.options[name].default
        return self.option_text(item)

    def option_text(self, item: Item) -> str | None:
        """Return the text of an option; a defined name in it is replaced by its number."""
        assert isinstance(item.syntax, Option)
        value = item.syntax.value
        if isinstance(value, Array):
            self.fault("option-value", f"'{item.name}' is a single value here, not a list.", item)
            return None
        return self._resolved(value, item)

    def _resolved(self, word: Word, at: Item) -> str | None:
        if word.is_hole:
            return None
        if word.is_number:
            return word.text
        frame = self.item.home
        found = frame.find(word.text)
        if found is not None:
            return self.scalar(found, self.item.use(at), word.text)
        if word.text.lower() in self.assembly.macros or function_of(word.text):
            self.fault("no-number", f"'{word.text}' is not a value of '{at.name}'.", at)
            return None
        return word.text

    def option_real(self, name: str) -> float | None:
        """Return an option that is a number."""
        return self._real(self.option_word(name), self.given(name) or self.item)

    def option_whole(self, name: str) -> int | None:
        """Return an option that is an integer."""
        return self._whole(self.option_word(name), self.given(name) or self.item)

    def option_dimension(self, name: str) -> int | None:
        """Return an option that is a size."""
        return self._counted(self.option_whole(name), self.given(name) or self.item)

    def option_truth(self, name: str) -> bool | None:
        """Return an option that is a boolean."""
        return self._truth(self.option_word(name), self.given(name) or self.item)

    def _truth(self, text: str | None, at: Item) -> bool | None:
        if text is None:
            return None
        if text in TRUTHS:
            return text in TRUE
        self.fault("option-value", f"'{text}' is neither true nor false.", at)
        return None

    def shape(self, number: int) -> tuple[int, ...] | None:
        """Return a positional argument that is a dimension or a list of them."""
        item = self.positional[number]
        found = self._array(item)
        if found is not None:
            return self._shape(self._texts(found), item)
        return self._shape([self.scalar(item)], item)

    def option_shape(self, name: str) -> tuple[int, ...] | None:
        """Return an option that is a dimension or a list of them."""
        item = self.given(name)
        if item is None:
            return (int(self.function.options[name].default),)
        return self._shape(self._option_texts(item), item)

    def option_truths(self, name: str) -> tuple[bool, ...] | None:
        """Return an option that is a boolean or a list of them."""
        item = self.given(name)
        if item is None:
            return (self.function.options[name].default == "true",)
        passed = self._passed(item)
        texts = self._option_texts(item) if passed is None else [passed.text]
        truths = [self._truth(text, item) for text in texts]
        known = tuple(truth for truth in truths if truth is not None)
        return known if len(known) == len(truths) else None

    def _shape(self, texts: list[str | None], at: Item) -> tuple[int, ...] | None:
        sizes = [self._counted(self._whole(text, at), at) for text in texts]
        known = tuple(size for size in sizes if size is not None)
        return known if len(known) == len(sizes) else None

    def _option_texts(self, item: Item) -> list[str | None]:
        """Return the elements of an option that may be a list, or the name of one."""
        assert isinstance(item.syntax, Option)
        value = item.syntax.value
        if isinstance(value, Array):
            return [self._element(one, self.item.home, item) for one in value.items]
        named = None if value.is_hole else self.item.home.find(value.text)
        found = None if named is None else self._array(named)
        return self._texts(found) if found is not None else [self._resolved(value, item)]

    def _passed(self, item: Item) -> Word | None:
        """Return the word given by an option of a macro's call, if this option only names that."""
        assert isinstance(item.syntax, Option)
        value = item.syntax.value
        found = self.item.home.find(value.text) if isinstance(value, Word) else None
        given = found.syntax if found is not None and found.kind == OPTION else None
        word = given.value if isinstance(given, Option) else None
        return word if isinstance(word, Word) and not word.is_hole else None

    def _array(self, item: Item) -> Item | None:
        """Return the list that an argument is, or that a name in it refers to."""
        found: Item | None = item
        if item.kind == PARAMETER:
            found = item.home.find(item.value)
        return found if found is not None and found.kind == ARRAY else None

    def _texts(self, item: Item) -> list[str | None]:
        """Return the elements of a list; names are resolved where the list is written."""
        assert isinstance(item.syntax, Array)
        return [self._element(one, item.home, item) for one in item.syntax.items]

    def _element(self, value: Value, frame: Frame, at: Item) -> str | None:
        if isinstance(value, Word):
            named = None if value.is_hole or value.is_number else frame.find(value.text)
            if named is None:
                return self._resolved(value, at)
            place = place_of(at.script.text, value.start, value.end)
            return self.scalar(named, place, value.text)
        place = place_of(at.script.text, value.start, value.end)
        message = f"'{text_of(value)}' is not allowed in a list of numbers."
        self.assembly.faults.add("no-number", message, place)
        return None

    def word(self, number: int) -> str | None:
        """Return a positional argument that is a word; a macro's parameter is replaced by its
        value.
        """
        item = self.positional[number]
        if item.kind == HOLE:
            return None
        found = item.home.find(item.value) if item.kind != NUMBER else None
        return (found or item).value
