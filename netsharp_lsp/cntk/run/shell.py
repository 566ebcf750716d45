"""Scripts of a POSIX shell read as texts: the commands that they lead to, word by word, with what
is known of variables. Starts nothing, opens nothing, and knows no program.
"""

from __future__ import annotations

import re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

#: Stands for what is not known where a value is guessed.
OPEN = "\0"
#: Blocks within blocks, and calls within calls, that are followed.
_DEEPEST = 20
#: Commands of one script that are followed, those of its functions at each call.
_MOST = 10_000
#: Characters that variables give in one script.
_ROOM = 1 << 20
_ASSIGNS = re.compile(r"([A-Za-z_]\w*)(\+?=)")
_BLANKS = re.compile(r"(?:[ \t\r]|\\\r?\n)+")
_REDIRECTS = re.compile(r"\d*(?:&>>?|>>|>&|>\||<&|<<<|<<-?|<>|[<>])")
_OPERATOR = re.compile(r"&&|\|\||;;&?|[|&;()\n]")
_NAME = re.compile(r"\$([A-Za-z_]\w*|[0-9@*#?$!-])")
#: A variable of the program that was not kept from the shell, as it was meant.
_OTHER = re.compile(r"\$[A-Za-z_]\w*\$(?![\w{(])")
_DEFAULT = re.compile(r"([A-Za-z_]\w*|[0-9])(?::?([-=+?])(.*))?\Z", re.DOTALL)
_CLOSERS = {"(": ")", "{": "}"}
_DECLARING = frozenset(("export", "local", "declare", "typeset", "readonly"))
_HEADS = frozenset(("if", "elif", "while", "until", "then", "else", "do", "!", "time"))


class ScriptPart:
    """A piece of a word.  `name`: of what it comes from where its value is not known; `text` is
    then how it is written, and `guess` what it may be, with `OPEN` for what nobody can say.
    """

    __slots__ = ("guess", "name", "text")

    def __init__(self, text: str, name: str = "", guess: str = OPEN) -> None:
        self.text = text
        self.name = name
        self.guess = text if not name else guess


class ScriptWord:
    """A word as a command gets it, and the span of the script that it stands in."""

    __slots__ = ("parts", "span")

    def __init__(self, parts: Sequence[ScriptPart], span: tuple[int, int]) -> None:
        self.parts = parts
        self.span = span

    @property
    def text(self) -> str:
        """The word as it is shown."""
        return "".join(part.text for part in self.parts)

    @property
    def is_known(self) -> bool:
        """Whether nothing in it is open."""
        return not any(part.name for part in self.parts)


class Started:
    """A command that a script comes to: its words and the folder, where that is known."""

    __slots__ = ("folder", "words")

    def __init__(self, words: list[ScriptWord], folder: str) -> None:
        self.words = words
        self.folder = folder


class _Token:
    __slots__ = ("end", "start", "text", "word")

    def __init__(self, text: str, start: int, end: int, word: bool) -> None:
        self.text = text
        self.start = start
        self.end = end
        self.word = word


class _Node:
    """A command (`words`), or a block of `branches`; `kind` is empty for a command.

    The branches of "if" are conditions and what follows each in turn, then what is done else.
    """

    __slots__ = ("branches", "kind", "maybe", "name", "words")

    def __init__(self, kind: str, words: list[_Token], name: str = "", maybe: bool = False) -> None:
        self.kind = kind
        self.words = words
        self.name = name
        self.maybe = maybe
        self.branches: list[list[_Node]] = []


def shell_commands(text: str, read: Callable[[Sequence[ScriptPart]], str | None]) -> list[Started]:
    """Find the commands of a script in the order in which they may be come to; `read` gives the
    text of another script by its path.
    """
    shell = _Shell(read)
    shell.follow(_Parser(text).all(), None)
    return shell.found


def _tokens(text: str) -> Iterator[_Token]:
    at, waiting = 0, []
    while at < len(text):
        blanks = _BLANKS.match(text, at)
        if blanks is not None:
            at = blanks.end()
            continue
        if text[at] == "#":
            at = _line_end(text, at)
            continue
        redirects = _REDIRECTS.match(text, at)
        if redirects is not None:
            blanks = _BLANKS.match(text, redirects.end())
            start = blanks.end() if blanks is not None else redirects.end()
            at = max(_word_end(text, start), redirects.end())
            if redirects.group().endswith(("<<", "<<-")):
                waiting.append(text[start:at].strip("'\"\\"))
            continue
        operator = _OPERATOR.match(text, at)
        end = operator.end() if operator is not None else _word_end(text, at)
        if text[end - 1 : end + 1] == "=(":
            end = _closing(text, end)
        yield _Token(text[at:end], at, end, operator is None)
        at = end
        if operator is not None and operator.group() == "\n":
            for mark in waiting:
                at = _behind_document(text, at, mark)
            waiting = []


def _line_end(text: str, at: int) -> int:
    end = text.find("\n", at)
    return len(text) if end < 0 else end


def _behind_document(text: str, at: int, mark: str) -> int:
    """Where a text ends that is given to a command in its place."""
    while at < len(text):
        end = _line_end(text, at)
        line = text[at:end].strip("\t\r")
        at = end + 1
        if line == mark:
            break
    return min(at, len(text))


def _word_end(text: str, at: int) -> int:
    """Where a word ends that begins here."""
    while at < len(text) and text[at] not in " \t\r\n|&;()<>":
        at = _behind(text, at)
    return at


def _behind(text: str, at: int) -> int:
    """Where the character, quoted text or expansion ends that begins here."""
    sign = text[at]
    if sign == "\\":
        return min(at + 2, len(text))
    if sign == "'":
        return _found_end(text.find("'", at + 1), text)
    if sign == "`":
        return _found_end(text.find("`", at + 1), text)
    if sign == '"':
        at += 1
        while at < len(text) and text[at] != '"':
            at = at + 1 if text[at] == "'" else _behind(text, at)
        return min(at + 1, len(text))
    if sign == "$" and text[at + 1 : at + 2] in _CLOSERS:
        return _closing(text, at + 1)
    return at + 1


def _found_end(at: int, text: str) -> int:
    return len(text) if at < 0 else at + 1


def _closing(text: str, at: int) -> int:
    """Behind the bracket that closes the one here, without recursion into brackets alone."""
    opens = text[at]
    closes, depth = _CLOSERS[opens], 0
    while at < len(text):
        if text[at] == opens:
            depth += 1
        elif text[at] == closes:
            depth -= 1
            if not depth:
                return at + 1
        elif text[at] in "'\\":
            at = _behind(text, at) - 1
        at += 1
    return at


class _Parser:
    """Commands and blocks of a script.  What is no shell's is read as words."""

    def __init__(self, text: str) -> None:
        self._tokens = list(_tokens(text))
        self._at = 0

    def all(self) -> list[_Node]:
        """Read to the end; what closes nothing is passed over."""
        nodes = []
        while self._at < len(self._tokens):
            nodes += self._until((), 0)
            self._at += 1
        return nodes

    def _peek(self) -> str:
        return self._tokens[self._at].text if self._at < len(self._tokens) else ""

    def _until(self, ends: tuple[str, ...], depth: int) -> list[_Node]:
        """Commands up to a word that ends them where a command may begin; that stays."""
        nodes: list[_Node] = []
        maybe = False
        while self._at < len(self._tokens):
            word = self._peek()
            if word in ends:
                break
            token = self._tokens[self._at]
            if not token.word and word != "(":
                maybe = word in ("&&", "||")
                self._at += 1
                if word in (")", ";;"):
                    self._at -= 1
                    break
                continue
            if word in _HEADS and word not in ("if", "while", "until"):
                self._at += 1
                continue
            if depth >= _DEEPEST:
                self._command(maybe)
                continue
            nodes.append(self._one(word, depth + 1, maybe))
        return nodes

    def _one(self, word: str, depth: int, maybe: bool) -> _Node:
        if word in ("if", "while", "until"):
            return self._branches("fi" if word == "if" else "done", depth)
        if word in ("for", "select"):
            return self._loop(depth)
        if word == "case":
            return self._cases(depth)
        if word in ("{", "("):
            return self._group(word, depth)
        after = [one.text for one in self._tokens[self._at + 1 : self._at + 4]]
        if word == "function" and after:
            self._at += 1
            return self._function(depth)
        if after[:2] == ["(", ")"]:
            return self._function(depth)
        return self._command(maybe)

    def _command(self, maybe: bool) -> _Node:
        words = []
        while self._at < len(self._tokens) and self._tokens[self._at].word:
            words.append(self._tokens[self._at])
            self._at += 1
        self._at += not words
        return _Node("", words, maybe=maybe)

    def _branches(self, end: str, depth: int) -> _Node:
        node = _Node("if" if end == "fi" else "branches", [])
        self._at += 1
        while self._at < len(self._tokens):
            node.branches.append(self._until(("then", "elif", "else", "do", end), depth))
            self._at += 1
            if self._tokens[self._at - 1 : self._at] and self._tokens[self._at - 1].text == end:
                break
        return node

    def _loop(self, depth: int) -> _Node:
        self._at += 1
        node = _Node("loop", [], self._peek())
        self._at += 1
        while self._peek() == "\n":
            self._at += 1
        if self._peek() == "in":
            self._at += 1
            node.words = self._command(maybe=False).words
        while self._at < len(self._tokens) and self._peek() != "do":
            self._at += 1
        self._at += 1
        node.branches.append(self._until(("done",), depth))
        self._at += 1
        return node

    def _cases(self, depth: int) -> _Node:
        node = _Node("branches", [])
        while self._at < len(self._tokens) and self._peek() != "in":
            self._at += 1
        self._at += 1
        while self._at < len(self._tokens) and self._peek() != "esac":
            while self._at < len(self._tokens) and self._peek() not in (")", "esac"):
                self._at += 1
            if self._peek() == "esac":
                break
            self._at += 1
            node.branches.append(self._until(("esac",), depth))
            if self._peek() == ";;":
                self._at += 1
        self._at += 1
        return node

    def _group(self, opens: str, depth: int) -> _Node:
        self._at += 1
        node = _Node("subshell" if opens == "(" else "group", [])
        node.branches.append(self._until((")",) if opens == "(" else ("}",), depth))
        self._at += 1
        return node

    def _function(self, depth: int) -> _Node:
        node = _Node("function", [], self._peek())
        self._at += 1
        while self._at < len(self._tokens) and self._peek() in ("(", ")", "\n"):
            self._at += 1
        if self._peek() in ("{", "("):
            node.branches = self._group(self._peek(), depth).branches
        return node


class _Shell:
    """Follows commands; values that depend on a condition are open behind it."""

    def __init__(self, read: Callable[[Sequence[ScriptPart]], str | None]) -> None:
        self.found: list[Started] = []
        self._read = read
        self._variables: dict[str, tuple[ScriptPart, ...]] = {}
        self._functions: dict[str, list[_Node]] = {}
        self._taken_in: dict[str, list[_Node]] = {}
        self._given: list[tuple[ScriptPart, ...]] | None = None
        self._folder = ""
        self._left = _MOST
        self._room = _ROOM
        self._depth = 0

    def follow(self, nodes: list[_Node], called: tuple[int, int] | None) -> None:
        """Follow commands in order; `called` is where the script calls what they belong to."""
        for node in nodes:
            self._left -= 1
            if self._left < 0:
                return
            if not node.kind:
                self._command(node, called)
            elif node.kind == "function":
                self._functions[node.name] = node.branches[0] if node.branches else []
            elif node.kind == "loop":
                self._loop(node, called)
            elif node.kind == "if":
                self._choice(node.branches, called)
            elif node.kind == "branches":
                for branch in node.branches:
                    self._conditional(branch, called)
            else:
                self._block(node, called)

    def _choice(self, branches: list[list[_Node]], called: tuple[int, int] | None) -> None:
        """Follow the branches that may be taken; one alone where its condition is known to hold."""
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

    def _holds(self, condition: list[_Node]) -> bool | None:
        """Whether a test of texts holds that are known; None where nobody can say."""
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

    def _conditional(self, branch: list[_Node], called: tuple[int, int] | None) -> None:
        before = dict(self._variables)
        self.follow(branch, called)
        for name, value in self._variables.items():
            if before.get(name) is not value:
                self._variables[name] = _either(name, before.get(name), value)

    def _loop(self, node: _Node, called: tuple[int, int] | None) -> None:
        values = [value for word in node.words for value in self._fields(word.text)]
        for value in values or [(ScriptPart(f"${node.name}", node.name),)]:
            self._variables[node.name] = value
            self._conditional(node.branches[0], called)
        self._variables[node.name] = _either(node.name, None, self._variables[node.name])

    def _block(self, node: _Node, called: tuple[int, int] | None) -> None:
        variables, folder = dict(self._variables), self._folder
        for branch in node.branches:
            self.follow(branch, called)
        if node.kind == "subshell":
            self._variables, self._folder = variables, folder

    def _command(self, node: _Node, called: tuple[int, int] | None) -> None:
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
        tokens: list[_Token],
        span: tuple[int, int],
        called: tuple[int, int] | None,
    ) -> None:
        name, given = words[0].text, [tuple(word.parts) for word in words[1:]]
        if name in self._functions:
            self._call(self._functions[name], given, span)
        elif name in (".", "source") and given:
            text = self._read(given[0])
            if text is not None:
                if text not in self._taken_in:
                    self._taken_in[text] = _Parser(text).all()
                self._call(self._taken_in[text], given[1:] or None, span)
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
        self, body: list[_Node], given: list[tuple[ScriptPart, ...]] | None, span: tuple[int, int]
    ) -> None:
        if self._depth >= _DEEPEST:
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
        """A value that is assigned: blanks divide nothing."""
        parts: list[ScriptPart] = []
        for pieces, _ in self._pieces(text):
            for number, value in enumerate(pieces):
                parts += [ScriptPart(" ")] if number else []
                parts += value
        return _merged(parts)

    def _fields(self, text: str) -> list[tuple[ScriptPart, ...]]:
        """The words that one word of a script gives."""
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
        """What a word is made of: values, more than one of `$@`; whether blanks divide them."""
        at = 0
        while at < len(text):
            end = _behind(text, at)
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
                values, end = self._expansion(text, at, _behind(text, at))
                yield values, False
            else:
                yield [(ScriptPart(sign),)], False
            at = end

    def _expansion(self, text: str, at: int, end: int) -> tuple[list[tuple[ScriptPart, ...]], int]:
        """The values of what `$` or a back quote begins, and where it ends."""
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
        return values if self._room > 0 else [(ScriptPart(written, name),)]

    def _braced(self, written: str) -> tuple[ScriptPart, ...]:
        found = _DEFAULT.match(written[2:-1])
        if found is None or self._depth >= _DEEPEST:
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
    """The same with neighbours that are known in one."""
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
    """A variable that may have been given a value; what is only appended is taken for given."""
    pairs = zip(before or (), value, strict=False)
    if before and all(new.text.startswith(old.text) for old, new in pairs):
        return value
    return (ScriptPart(f"${name}", name, "".join(part.guess for part in before or value)),)


def _split(value: Sequence[ScriptPart]) -> Iterator[tuple[list[ScriptPart], bool, bool]]:
    """A value that blanks divide: words, with whether a blank ends and begins each."""
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
