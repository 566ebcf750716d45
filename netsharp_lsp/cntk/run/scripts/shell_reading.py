"""Scripts of a POSIX shell as trees of commands and blocks; substitutes nothing and follows
nothing.
"""

from __future__ import annotations

import re

from netsharp_lsp.limits import SCRIPT_DEPTH

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

_BLANKS = re.compile(r"(?:[ \t\r]|\\\r?\n)++")
_REDIRECTS = re.compile(r"\d*(?:&>>?|>>|>&|>\||<&|<<<|<<-?|<>|[<>])")
_OPERATOR = re.compile(r"&&|\|\||;;&?|[|&;()\n]")
_CLOSERS = {"(": ")", "{": "}"}
_HEADS = frozenset(("if", "elif", "while", "until", "then", "else", "do", "!", "time"))


class ShellToken:
    """A word or an operator, and its position."""

    __slots__ = ("end", "start", "text", "word")

    def __init__(self, text: str, start: int, end: int, word: bool) -> None:
        self.text = text
        self.start = start
        self.end = end
        self.word = word


class ShellNode:
    """A command (`words`), or a block of `branches`; `kind` is empty for a command.

    The branches of "if" are conditions and their bodies in turn, then that of else. Commands nested
    beyond the limit are one node, "deep", without contents.
    """

    __slots__ = ("branches", "kind", "maybe", "name", "words")

    def __init__(
        self, kind: str, words: list[ShellToken], name: str = "", maybe: bool = False
    ) -> None:
        self.kind = kind
        self.words = words
        self.name = name
        self.maybe = maybe
        self.branches: list[list[ShellNode]] = []


def parsed_script(text: str) -> list[ShellNode]:
    """Parse a script; text that is not shell is parsed as words."""
    return _Parser(text).all()


def _tokens(text: str) -> Iterator[ShellToken]:
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
        yield ShellToken(text[at:end], at, end, operator is None)
        at = end
        if operator is not None and operator.group() == "\n":
            for mark in waiting:
                at = _document_end(text, at, mark)
            waiting = []


def _line_end(text: str, at: int) -> int:
    end = text.find("\n", at)
    return len(text) if end < 0 else end


def _document_end(text: str, at: int, mark: str) -> int:
    """Return the end of a here-document."""
    while at < len(text):
        end = _line_end(text, at)
        line = text[at:end].strip("\t\r")
        at = end + 1
        if line == mark:
            break
    return min(at, len(text))


def _word_end(text: str, at: int) -> int:
    """Return the end of the word that begins here."""
    while at < len(text) and text[at] not in " \t\r\n|&;()<>":
        at = piece_end(text, at)
    return at


def piece_end(text: str, at: int) -> int:
    """Return the end of the character, quoted text or expansion that begins here."""
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
            at = at + 1 if text[at] == "'" else piece_end(text, at)
        return min(at + 1, len(text))
    if sign == "$" and text[at + 1 : at + 2] in _CLOSERS:
        return _closing(text, at + 1)
    return at + 1


def _found_end(at: int, text: str) -> int:
    return len(text) if at < 0 else at + 1


def _closing(text: str, at: int) -> int:
    """Return the offset after the bracket that closes the one here, without recursion into
    brackets.
    """
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
            at = piece_end(text, at) - 1
        at += 1
    return at


class _Parser:
    """A parser of commands and blocks of a script. Text that is not shell is parsed as words."""

    def __init__(self, text: str) -> None:
        self._tokens = list(_tokens(text))
        self._at = 0

    def all(self) -> list[ShellNode]:
        """Parse to the end; a word that closes nothing is skipped."""
        nodes = []
        while self._at < len(self._tokens):
            nodes += self._until((), 0)
            self._at += 1
        return nodes

    def _peek(self) -> str:
        return self._tokens[self._at].text if self._at < len(self._tokens) else ""

    def _until(self, ends: tuple[str, ...], depth: int) -> list[ShellNode]:
        """Return commands up to a word that ends them where a command may begin; that word is not
        consumed.
        """
        nodes: list[ShellNode] = []
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
            if depth >= SCRIPT_DEPTH.most:
                self._command(maybe)
                nodes = nodes or [ShellNode("deep", [])]
                continue
            nodes.append(self._one(word, depth + 1, maybe))
        return nodes

    def _one(self, word: str, depth: int, maybe: bool) -> ShellNode:
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

    def _command(self, maybe: bool) -> ShellNode:
        words = []
        while self._at < len(self._tokens) and self._tokens[self._at].word:
            words.append(self._tokens[self._at])
            self._at += 1
        self._at += not words
        return ShellNode("", words, maybe=maybe)

    def _branches(self, end: str, depth: int) -> ShellNode:
        node = ShellNode("if" if end == "fi" else "branches", [])
        self._at += 1
        while self._at < len(self._tokens):
            node.branches.append(self._until(("then", "elif", "else", "do", end), depth))
            self._at += 1
            if self._tokens[self._at - 1 : self._at] and self._tokens[self._at - 1].text == end:
                break
        return node

    def _loop(self, depth: int) -> ShellNode:
        self._at += 1
        node = ShellNode("loop", [], self._peek())
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

    def _cases(self, depth: int) -> ShellNode:
        node = ShellNode("branches", [])
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

    def _group(self, opens: str, depth: int) -> ShellNode:
        self._at += 1
        node = ShellNode("subshell" if opens == "(" else "group", [])
        node.branches.append(self._until((")",) if opens == "(" else ("}",), depth))
        self._at += 1
        return node

    def _function(self, depth: int) -> ShellNode:
        node = ShellNode("function", [], self._peek())
        self._at += 1
        while self._at < len(self._tokens) and self._peek() in ("(", ")", "\n"):
            self._at += 1
        if self._peek() in ("{", "("):
            node.branches = self._group(self._peek(), depth).branches
        return node
