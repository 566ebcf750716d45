"""Scripts of a POSIX shell parsed as texts: the commands that they reach, word by word, with what
is known of variables. Starts nothing, opens nothing, and knows no program.
"""

from __future__ import annotations

import re

from netsharp_lsp.cntk.run.scripts.shell_reading import parsed_script, piece_end
from netsharp_lsp.cntk.run.scripts.words import OPEN, ScriptPart, ScriptWord, Started
from netsharp_lsp.limits import SCRIPT_CHARACTERS, SCRIPT_COMMANDS, SCRIPT_DEPTH

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from netsharp_engine.limits import Limit
    from netsharp_lsp.cntk.run.scripts.shell_reading import ShellNode, ShellToken

    #: Gives the text of another script by its path; beside it the texts that are being followed.
    TakeIn = Callable[[Sequence[ScriptPart], Sequence[str]], "str | None"]

_ASSIGNS = re.compile(r"([A-Za-z_]\w*)(\+?=)")
_NAME = re.compile(r"\$([A-Za-z_]\w*|[0-9@*#?$!-])")
#: A variable of the program that was not kept from the shell, as it was meant.
_OTHER = re.compile(r"\$[A-Za-z_]\w*\$(?![\w{(])")
_DEFAULT = re.compile(r"([A-Za-z_]\w*|[0-9])(?::?([-=+?])(.*))?\Z", re.DOTALL)
_DECLARING = frozenset(("export", "local", "declare", "typeset", "readonly"))


def shell_commands(text: str, read: TakeIn, passed: Callable[[Limit], object]) -> list[Started]:
    """Find the commands of a script in the order in which they may be reached; `read` returns the
    text of another script, and `passed` is called with limits.
    """
    shell = _Shell(text, read, passed)
    shell.follow(parsed_script(text), None)
    return shell.found


class _Shell:
    """A follower of commands; values that depend on a condition are open after it."""

    def __init__(self, text: str, read: TakeIn, passed: Callable[[Limit], object]) -> None:
        self.found: list[Started] = []
        self._followed = [text]
        self._read = read
        self._passed = passed
        self._variables: dict[str, tuple[ScriptPart, ...]] = {}
        self._functions: dict[str, list[ShellNode]] = {}
        self._taken_in: dict[str, list[ShellNode]] = {}
        self._given: list[tuple[ScriptPart, ...]] | None = None
        self._folder = ""
        self._left = SCRIPT_COMMANDS.most
        self._room = SCRIPT_CHARACTERS.most
        self._depth = 0

    def follow(self, nodes: list[ShellNode], called: tuple[int, int] | None) -> None:
        """Follow commands in order; `called` is where the script calls the function that contains
        them.
        """
        for node in nodes:
            self._left -= 1
            if self._left < 0:
                self._passed(SCRIPT_COMMANDS)
                return
            if not node.kind:
                self._command(node, called)
            elif node.kind == "function":
                self._functions[node.name] = node.branches[0] if node.branches else []
            elif node.kind == "deep":
                self._passed(SCRIPT_DEPTH)
            elif node.kind == "loop":
                self._loop(node, called)
            elif node.kind == "if":
                self._choice(node.branches, called)
            elif node.kind == "branches":
                for branch in node.branches:
                    self._conditional(branch, called)
            else:
                self._block(node, called)

    def _choice(self, branches: list[list[ShellNode]], called: tuple[int, int] | None) -> None:
        """Follow the branches that may be taken; only one where its condition is known to hold."""
        certain = True
        for number in range(0, len(branches), 2):
            holds: bool | None = True
            if number + 1 < len(branches):
                self.follow(branches[number], called)
                holds = self._holds(branches[number])
            if holds is False:
                continue
            branch = branches[min(number + 1, len(branches) - 1)]
            certain = certain and holds is True
            if certain:
                self.follow(branch, called)
            else:
                self._conditional(branch, called)
            if holds:
                return

    def _holds(self, condition: list[ShellNode]) -> bool | None:
        """Return whether a test of known texts holds; None where it is undecided."""
        if len(condition) != 1 or condition[0].kind:
            return None
        words = [self._joined(token.text) for token in condition[0].words]
        if any(part.name for word in words for part in word):
            return None
        texts = ["".join(part.text for part in word) for word in words]
        if not texts or texts[0] not in ("[", "[[", "test"):
            return None
        given = texts[1:-1] if texts[0] != "test" else texts[1:]
        if len(given) == 2 and given[0] in ("-z", "-n"):
            return (not given[1]) is (given[0] == "-z")
        if len(given) == 3 and given[1] in ("=", "==", "!="):
            return (given[0] == given[2]) is (given[1] != "!=")
        if len(given) == 3 and given[1] in ("-eq", "-ne"):
            return (given[0] == given[2]) is (given[1] == "-eq")
        return None

    def _conditional(self, branch: list[ShellNode], called: tuple[int, int] | None) -> None:
        before = dict(self._variables)
        self.follow(branch, called)
        for name, value in self._variables.items():
            if before.get(name) is not value:
                self._variables[name] = _either(name, before.get(name), value)

    def _loop(self, node: ShellNode, called: tuple[int, int] | None) -> None:
        values = [value for word in node.words for value in self._fields(word.text)]
        for value in values or [(ScriptPart(f"${node.name}", node.name),)]:
            self._variables[node.name] = value
            self._conditional(node.branches[0], called)
        self._variables[node.name] = _either(node.name, None, self._variables[node.name])

    def _block(self, node: ShellNode, called: tuple[int, int] | None) -> None:
        variables, folder = dict(self._variables), self._folder
        for branch in node.branches:
            self.follow(branch, called)
        if node.kind == "subshell":
            self._variables, self._folder = variables, folder

    def _command(self, node: ShellNode, called: tuple[int, int] | None) -> None:
        tokens = node.words
        first = 0
        while first < len(tokens) and _ASSIGNS.match(tokens[first].text):
            first += 1
        if first == len(tokens):
            for token in tokens:
                self._assign(token.text, node.maybe)
            return
        if tokens[first].text in _DECLARING:
            for token in tokens[first + 1 :]:
                self._assign(token.text, node.maybe)
            return
        words = [
            ScriptWord(value, called or (token.start, token.end))
            for token in tokens[first:]
            for value in self._fields(token.text)
        ]
        if words:
            span = called or (tokens[first].start, tokens[-1].end)
            self._do(words, tokens[first:], span, called)

    def _do(
        self,
        words: list[ScriptWord],
        tokens: list[ShellToken],
        span: tuple[int, int],
        called: tuple[int, int] | None,
    ) -> None:
        name, given = words[0].text, [tuple(word.parts) for word in words[1:]]
        if name in self._functions:
            self._call(self._functions[name], given, span)
        elif name in (".", "source") and given:
            text = self._read(given[0], self._followed)
            if text is not None:
                if text not in self._taken_in:
                    self._taken_in[text] = parsed_script(text)
                self._followed.append(text)
                self._call(self._taken_in[text], given[1:] or None, span)
                self._followed.pop()
        elif name in ("cd", "pushd", "popd"):
            moves = len(words) == 2 and words[1].is_known and words[1].text != "-"
            self._folder = words[1].text if moves else ""
        elif name == "shift":
            self._given = None if self._given is None else self._given[1:]
        elif name == "set" and len(tokens) > 1 and tokens[1].text == "--":
            self._given = given[1:]
        elif name in ("read", "unset"):
            for word in words[1:]:
                self._variables.pop(word.text, None)
        else:
            self.found.append(Started(words, self._folder))

    def _call(
        self,
        body: list[ShellNode],
        given: list[tuple[ScriptPart, ...]] | None,
        span: tuple[int, int],
    ) -> None:
        if self._depth >= SCRIPT_DEPTH.most:
            self._passed(SCRIPT_DEPTH)
            return
        kept = self._given
        self._depth += 1
        self._given = kept if given is None else given
        self.follow(body, span)
        self._depth -= 1
        self._given = kept

    def _assign(self, text: str, maybe: bool) -> None:
        found = _ASSIGNS.match(text)
        if found is None:
            return
        name, written = found.group(1), text[found.end() :]
        before = self._variables.get(name)
        value = self._joined(written)
        if found.group(2) == "+=":
            value = (*(before or (ScriptPart(f"${name}", name),)), *value)
        if written.startswith("("):
            value = (ScriptPart(f"${name}", name),)
        self._variables[name] = _either(name, before, value) if maybe else value

    def _joined(self, text: str) -> tuple[ScriptPart, ...]:
        """Return a value that is assigned, without field splitting."""
        parts: list[ScriptPart] = []
        for pieces, _ in self._pieces(text):
            for number, value in enumerate(pieces):
                parts += [ScriptPart(" ")] if number else []
                parts += value
        return _merged(parts)

    def _fields(self, text: str) -> list[tuple[ScriptPart, ...]]:
        """Return the fields that one word of a script expands to."""
        fields: list[list[ScriptPart]] = []
        open_field = False
        for values, splits in self._pieces(text):
            for number, value in enumerate(values):
                if number:
                    open_field = False
                for word, ends, begins in _split(value) if splits else [(value, False, False)]:
                    if begins or not open_field:
                        if not word and splits:
                            continue
                        fields.append([])
                    fields[-1] += word
                    open_field = not ends
        return [_merged(field) for field in fields]

    def _pieces(self, text: str) -> Iterator[tuple[list[tuple[ScriptPart, ...]], bool]]:
        """Yield the parts of a word: values, more than one for `$@`; and whether blanks split
        them.
        """
        at = 0
        while at < len(text):
            end = piece_end(text, at)
            sign = text[at]
            if sign == "'":
                yield [(ScriptPart(text[at + 1 : end - 1]),)], False
            elif sign == "\\":
                yield [(ScriptPart(text[at + 1 : end].strip("\r\n")),)], False
            elif sign == '"':
                yield from self._quoted(text[at + 1 : end - 1])
            elif sign in "$`":
                values, end = self._expansion(text, at, end)
                yield values, True
            else:
                yield [(ScriptPart(sign),)], False
            at = end

    def _quoted(self, text: str) -> Iterator[tuple[list[tuple[ScriptPart, ...]], bool]]:
        at = 0
        yield [()], False
        while at < len(text):
            sign, end = text[at], at + 1
            if sign == "\\" and text[at + 1 : at + 2] in ("$", '"', "\\", "`", "\n"):
                yield [(ScriptPart(text[at + 1].strip("\n")),)], False
                end = at + 2
            elif sign in "$`":
                values, end = self._expansion(text, at, piece_end(text, at))
                yield values, False
            else:
                yield [(ScriptPart(sign),)], False
            at = end

    def _expansion(self, text: str, at: int, end: int) -> tuple[list[tuple[ScriptPart, ...]], int]:
        """Return the values of an expansion that begins with `$` or a back quote, and its end."""
        other = _OTHER.match(text, at)
        if other is not None:
            return [(ScriptPart(other.group()),)], other.end()
        found = _NAME.match(text, at)
        if found is not None:
            return self._values(found.group(1), found.group()), found.end()
        written = text[at:end]
        if written.startswith("${"):
            return [self._braced(written)], end
        if len(written) == 1 and written == "$":
            return [(ScriptPart("$"),)], end
        return [(ScriptPart(written, written),)], end

    def _values(self, name: str, written: str) -> list[tuple[ScriptPart, ...]]:
        given = self._given
        values = [self._variables.get(name, (ScriptPart(written, name),))]
        if name in "@*" and given is not None:
            values = given or [()]
        elif name.isdigit() and name != "0" and given is not None:
            values = [given[int(name) - 1] if int(name) <= len(given) else ()]
        self._room -= sum(len(part.text) + 1 for value in values for part in value)
        if self._room > 0:
            return values
        self._passed(SCRIPT_CHARACTERS)
        return [(ScriptPart(written, name),)]

    def _braced(self, written: str) -> tuple[ScriptPart, ...]:
        found = _DEFAULT.match(written[2:-1])
        if found is not None and self._depth >= SCRIPT_DEPTH.most:
            self._passed(SCRIPT_DEPTH)
            found = None
        if found is None:
            return (ScriptPart(written, written),)
        self._depth += 1
        value = self._defaulting(written, *found.groups())
        self._depth -= 1
        return value

    def _defaulting(
        self, written: str, name: str, sign: str, otherwise: str
    ) -> tuple[ScriptPart, ...]:
        (value,) = self._values(name, written)
        if sign is None or (value and sign in "-=?" and not any(part.name for part in value)):
            return value
        if sign in "-=" and not value:
            return self._joined(otherwise)
        guess = "".join(part.guess for part in self._joined(otherwise)) if sign in "-=" else OPEN
        return (ScriptPart(written, name, guess),)


def _merged(parts: Sequence[ScriptPart]) -> tuple[ScriptPart, ...]:
    """Return the same parts with adjacent known ones merged."""
    found: list[ScriptPart] = []
    known: list[str] = []
    for part in parts:
        if not part.name:
            known.append(part.text)
            continue
        if known:
            found.append(ScriptPart("".join(known)))
            known = []
        found.append(part)
    if known:
        found.append(ScriptPart("".join(known)))
    return tuple(found)


def _either(
    name: str, before: tuple[ScriptPart, ...] | None, value: tuple[ScriptPart, ...]
) -> tuple[ScriptPart, ...]:
    """Return a variable that may have been assigned; one that is only appended to counts as
    assigned.
    """
    pairs = zip(before or (), value, strict=False)
    if before and all(new.text.startswith(old.text) for old, new in pairs):
        return value
    return (ScriptPart(f"${name}", name, "".join(part.guess for part in before or value)),)


def _split(value: Sequence[ScriptPart]) -> Iterator[tuple[list[ScriptPart], bool, bool]]:
    """Yield the words of a value that blanks split, with whether a blank ends and begins each."""
    word: list[ScriptPart] = []
    begins = False
    for part in value:
        if part.name:
            word.append(part)
            continue
        pieces = re.split(r"[ \t\n]+", part.text)
        for number, piece in enumerate(pieces):
            if number:
                yield word, True, begins
                word, begins = [], True
            if piece:
                word.append(ScriptPart(piece))
    yield word, False, begins
