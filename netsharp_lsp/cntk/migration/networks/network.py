"""One network of NDL for rules, and the facts on which all networks of the same texts have to
agree.
"""

from __future__ import annotations

import re
from enum import Enum

from netsharp_lsp.cntk.migration.networks.functions import BROUGHT_IN, GROUPS, TRUTHS
from netsharp_lsp.cntk.migration.networks.unreached import unreached
from netsharp_lsp.cntk.ndl.functions import GROUP_ARRAYS
from netsharp_lsp.cntk.ndl.syntax import NdlAssignment, NdlCall, Word
from netsharp_lsp.cntk.vocabulary import KEYWORDS, PLAIN_TRUTHS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from netsharp_lsp.cntk.migration.editing.edits import Edit
    from netsharp_lsp.cntk.migration.editing.texts import Text
    from netsharp_lsp.cntk.migration.networks.names import (
        CallSite,
        Frame,
        Names,
        ScopedMacro,
        Symbol,
        Use,
    )
    from netsharp_lsp.cntk.ndl.syntax import Option, Value
    from netsharp_lsp.cntk.networks.node import Network, Node

    #: A file and an offset: what tells a symbol, a macro or a call apart in every network.
    Where = tuple[str, int]

_IDENTIFIER = re.compile(r"[A-Za-z_]\w*\Z", re.ASCII)


class Unfit(Enum):
    """The reason why a name cannot stay."""

    LIKE_A_MACRO = 0
    KEYWORD = 1
    NO_NAME = 2


class Facts:
    """The facts on which all networks that read a text have to agree, so that one text serves them
    all.
    """

    def __init__(self) -> None:
        #: Macros whose inner variables are used by dotted names.
        self.records: set[Where] = set()
        #: Other names of symbols: why their own cannot stay, and the name.
        self.renamed: dict[Where, tuple[Unfit, str]] = {}
        #: Options that are passed to a macro and that it reads: their defaults by name.
        self.options: dict[Where, dict[str, str]] = {}
        #: For each call of the nodes that it made: channels of the input, layouts, groups.
        self.channels: dict[Where, set[int]] = {}
        self.layouts: dict[Where, set[str]] = {}
        self.groups: dict[Where, set[str]] = {}
        #: Names that are taken anywhere.
        self.taken: set[str] = set()
        #: The member that stands for a variable in a file: by the variable's name in lower case.
        self.members: dict[tuple[str, bool], str] = {}
        #: The variables that each text has, as keys of `members`, with the variables' spelling.
        self.used: dict[Where, dict[tuple[str, bool], str]] = {}

    def unused(self, name: str) -> str:
        """Return an unused name like this one."""
        number = 1
        while f"{name}{number}" in self.taken:
            number += 1
        self.taken.add(f"{name}{number}")
        return f"{name}{number}"

    def member(self, variable: str, quoted: bool, text: Where) -> str:
        """Return the member that replaces a variable in a text of a file, quoted or as it is."""
        key = (variable.lower(), quoted)
        self.used.setdefault(text, {}).setdefault(key, variable)
        if key not in self.members:
            name = re.sub(r"\W", "_", variable, flags=re.ASCII)
            taken = {*self.taken, *self.members.values(), *KEYWORDS}
            if name in taken:
                name = self.unused(name)
            self.members[key] = name
        return self.members[key]


class MigratedNetwork:
    """One network: its names, its nodes, and the facts of its unit."""

    def __init__(
        self, names: Names, network: Network, facts: Facts, locate: Callable[[str], str]
    ) -> None:
        self.names = names
        self.network = network
        self.facts = facts
        self._locate = locate
        #: Nodes within macros that BrainScript would not build unasked.
        self.unreached = unreached(names, network)
        self._used = {id(symbol) for use in names.uses for _, _, symbol in use.parts}

    def gather(self) -> None:
        """Add what this network knows to the facts."""
        facts = self.facts
        facts.taken |= self.names.words()
        for use in (*self.names.uses, *self.unreached):
            for (_, _, symbol), _ in zip(use.parts, use.parts[1:], strict=False):
                macro = self.names.target(symbol) if symbol is not None else None
                if macro is not None:
                    facts.records.add(macro.place)
        for site in self.names.calls:
            if site.macro is not None:
                self._gather_options(site, site.macro)
        for symbol in self.names.top.symbols.values():
            value = symbol.value
            if isinstance(value, Word) and symbol.text.in_file and not value.quoted:
                variable = symbol.text.variable(value.start, value.end)
                if variable is not None and variable.lower() == symbol.word.text.lower():
                    facts.members.setdefault((variable.lower(), False), symbol.word.text)
        self._gather_nodes()

    def _gather_options(self, site: CallSite, macro: ScopedMacro) -> None:
        table = self.facts.options.setdefault(macro.place, {})
        for option in site.arguments.options:
            name = option.name.text.lower()
            if name == "tag":
                self._tag(macro)
                continue
            if self.is_read(macro, option):
                default = self.rendered(site.text, site.frame, option.value, as_text=True)
                table.setdefault(name, default)

    def is_read(self, macro: ScopedMacro, option: Option) -> bool:
        """Return whether a macro uses an option that it is called with."""
        name = option.name.text.lower()
        return name == "tag" or id(macro.frame.symbols.get(name)) in self._used

    def _tag(self, macro: ScopedMacro | None) -> None:
        """Pass a macro's tag on to the node that it returns."""
        while macro is not None:
            table = self.facts.options.setdefault(macro.place, {})
            if "tag" in table:
                return
            table["tag"] = '""'
            call = self.result_call(macro)
            macro = self.names.macros.get(call.name.text.lower()) if call is not None else None

    def result_call(self, macro: ScopedMacro) -> NdlCall | None:
        """Return the call whose value a macro returns, where it has a name or is the whole body."""
        result = macro.result
        if result is not None:
            return result.value if isinstance(result.value, NdlCall) else None
        last = macro.statements[-1] if macro.statements else None
        called = isinstance(last, NdlAssignment) and isinstance(last.value, NdlCall)
        return last.value if called else None  # type: ignore[union-attr,return-value]

    def _gather_nodes(self) -> None:
        groups: dict[int, str] = {}
        for group, members in self.network.groups.items():
            for node in members:
                groups.setdefault(id(node), group)
        for node in self.network.nodes.values():
            where = self._locate(node.where[0]), node.where[1]
            self.facts.groups.setdefault(where, set()).add(groups.get(id(node), ""))
            layout = node.text("imageLayout")
            if layout:
                self.facts.layouts.setdefault(where, set()).add(layout)
            shape = node.inputs[1].shape if node.operation == "Convolution" else None
            if shape:
                self.facts.channels.setdefault(where, set()).add(shape[-1])

    def rename(self) -> None:
        """Give other names to those that cannot stay."""
        for frame in self.names.frames():
            for symbol in frame.symbols.values():
                reason = self._reason_to_rename(symbol)
                if reason and symbol.place not in self.facts.renamed:
                    base = re.sub(r"\W", "", symbol.word.text, flags=re.ASCII)
                    if reason is Unfit.LIKE_A_MACRO:
                        base = base[:1].lower() + base[1:] if base != base.upper() else base.lower()
                    name = self.facts.unused(base if _IDENTIFIER.match(base) else f"x{base}")
                    self.facts.renamed[symbol.place] = reason, name

    def _reason_to_rename(self, symbol: Symbol) -> Unfit | None:
        name = symbol.word.text
        if symbol.text.is_variable(symbol.word.start, symbol.word.end):
            return None
        if name in KEYWORDS:
            return Unfit.KEYWORD
        if not _IDENTIFIER.match(name):
            return Unfit.NO_NAME
        macro = self.names.macros.get(name.lower())
        clashes = macro is not None and macro.name == name and self._meets(symbol, macro)
        return Unfit.LIKE_A_MACRO if clashes or name in BROUGHT_IN else None

    def _meets(self, symbol: Symbol, macro: ScopedMacro) -> bool:
        """Return whether a variable would be found where a macro of its name is called."""
        if symbol.frame is self.names.top:
            return True
        return any(
            site.macro is macro and self._is_within(site.frame, symbol.frame)
            for site in self.names.calls
        )

    def _is_within(self, frame: Frame | None, outer: Frame) -> bool:
        while frame is not None and frame is not outer:
            frame = frame.parent
        return frame is outer

    def name_of(self, symbol: Symbol) -> str:
        """Return the new name of a symbol."""
        renamed = self.facts.renamed.get(symbol.place)
        return renamed[1] if renamed is not None else symbol.word.text

    def is_kept_record(self, macro: ScopedMacro) -> bool:
        """Return whether a macro still returns all its variables."""
        return macro.is_record and macro.place in self.facts.records

    def selection(self, macro: ScopedMacro) -> str:
        """Return the selection of the result of a macro that keeps its record: `.y`, and further
        in.
        """
        result = macro.result
        if result is None:
            return ""
        inner = self.names.target(result)
        deeper = self.selection(inner) if inner is not None and self.is_kept_record(inner) else ""
        return f".{self.name_of(result)}{deeper}"

    def selection_of(self, use: Use) -> str:
        """Return the suffix that makes a name refer to a node; empty for most."""
        symbol = use.parts[-1][2]
        macro = self.names.target(symbol) if symbol is not None else None
        if macro is None or not self.is_kept_record(macro):
            return ""
        return self.selection(macro)

    def group_arrays(self) -> list[str]:
        """Return the groups that tags form of several nodes, as arrays, without those that are
        written.
        """
        written = {self._array_of(one) for _, one in self._arrays()}
        return [
            f"{GROUPS[array]} = {listed}"
            for array, listed in self._listed_groups().items()
            if GROUPS[array] not in written
        ]

    def rewritten_arrays(self) -> Iterator[Edit]:
        """Yield edits of the arrays to whose groups tags add nodes, with all nodes in order."""
        listed = {GROUPS[array]: nodes for array, nodes in self._listed_groups().items()}
        for text, statement in self._arrays():
            nodes = listed.get(self._array_of(statement))
            if nodes is not None:
                value = statement.value
                yield text.edit("MG22", value.start, value.end, nodes)

    def _array_of(self, statement: NdlAssignment) -> str:
        assert statement.name is not None
        return GROUPS[statement.name.text.lower()]

    def _arrays(self) -> Iterator[tuple[Text, NdlAssignment]]:
        for text in self.names.texts:
            for one in text.script.statements:
                if isinstance(one, NdlAssignment) and one.name and one.name.text.lower() in GROUPS:
                    yield text, one

    def _listed_groups(self) -> dict[str, str]:
        """Return for each group with several nodes the array of them, if all have names."""
        found = {}
        for array, group in GROUP_ARRAYS.items():
            members = self.network.groups.get(group, ())
            names = [self._outer_name(node) for node in members]
            if len(members) > 1 and None not in names and array != "criterianodes":
                found[array] = f"({':'.join(filter(None, names))})"
        return found

    def _outer_name(self, node: Node) -> str | None:
        """Return a node's name in the network's own record; None for one without a name there."""
        symbol = self.names.top.symbols.get(node.name.split(".")[0].lower())
        if symbol is None:
            return None
        macro = self.names.target(symbol)
        kept = macro is not None and self.is_kept_record(macro)
        return self.name_of(symbol) + (self.selection(macro) if macro is not None and kept else "")

    def spelt(self, use: Use) -> str:
        """Return a name as it is after migration, with the selection of a node."""
        data = use.text.data
        parts = [
            self.name_of(symbol) if symbol is not None else data[start:end].decode()
            for start, end, symbol in use.parts
        ]
        return ".".join(parts) + self.selection_of(use)

    def rendered(self, text: Text, frame: Frame, value: Value, as_text: bool = False) -> str:
        """Return a word as BrainScript writes it; `as_text` where a string is expected."""
        if not isinstance(value, Word):
            return text.written(value.start, value.end)
        name = text.variable(value.start, value.end)
        if name is not None:
            return self._variable(text, value, name, as_text)
        if not value.quoted and value.is_number:
            return value.text
        use = None if value.quoted else self.names.use_of(text, value, frame)
        if use is not None:
            return self.spelt(use)
        lowered = value.text.lower()
        if not value.quoted and lowered in PLAIN_TRUTHS:
            return lowered
        return f'"{value.text}"' if as_text or value.quoted else value.text

    def truth(self, text: Text, frame: Frame, value: Value) -> str:
        """Return a truth value as BrainScript writes it, or the name of one."""
        rendered = self.rendered(text, frame, value).strip('"')
        return TRUTHS.get(rendered.lower(), rendered)

    def _variable(self, text: Text, word: Word, name: str, as_text: bool) -> str:
        quoted = as_text or word.quoted
        if text.in_file:
            return self.facts.member(name, quoted, text.key)
        written = text.written(word.start, word.end)
        return f'"{written}"' if quoted else written
