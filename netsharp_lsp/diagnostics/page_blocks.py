"""The examples of a rule's page: fenced blocks, which may be files of a small project; no language.

A section has one block, or several with a title each: the name of a file. Words `name=value` after
the fence's language give details: the context, how the file is stored, how it is run.
"""

from __future__ import annotations

from netsharp_lsp.context import HOSTS, TASKS, Context, read_target

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

OPENING, CLOSING = "⟦", "⟧"
#: Bytes above which no text is read.
_TOO_LARGE = 11 * 1024 * 1024


def _grown(text: bytes) -> bytes:
    lines = _TOO_LARGE // 80 + 1
    return text + (b"#" * 79 + b"\n") * lines


#: How a file may be stored so that a page cannot show it: what makes its bytes of the block.
FORMS: dict[str, Callable[[bytes], bytes]] = {
    "utf-16": lambda text: b"\xff\xfe" + text.decode("utf-8").encode("utf-16-le"),
    "windows-1252": lambda text: text.decode("utf-8").encode("cp1252"),
    "mark": lambda text: b"\xef\xbb\xbf" + text,
    "carriage-returns": lambda text: text.replace(b"\n", b"\r"),
    "binary": lambda text: b"\0" + text,
    "large": _grown,
}


class PageError(Exception):
    """A page that does not follow the form: on which line (from 1), and what is wrong there."""

    def __init__(self, line: int, message: str) -> None:
        super().__init__(f"line {line}: {message}")
        self.line = line
        self.message = message


class Block:
    """One fenced block: its `title` (empty where it is the only one), language and UTF-8 text.

    `span` is the bytes of the text between the markers, None without any; `form` is one of `FORMS`
    or empty; `runs` are the items of the command line of the page's run, if it has one.
    """

    __slots__ = ("context", "form", "language", "runs", "span", "text", "title")

    def __init__(self, language: str, text: bytes, span: tuple[int, int] | None) -> None:
        self.language = language
        self.text = text
        self.span = span
        self.title = ""
        self.form = ""
        self.runs: tuple[str, ...] = ()
        self.context = Context()

    @property
    def data(self) -> bytes:
        """Return the bytes of the file."""
        return FORMS[self.form](self.text) if self.form else self.text


def read_blocks(lines: list[str], section: tuple[int, int], *, marked: bool) -> tuple[Block, ...]:
    """Return the blocks of a section; `marked`: exactly one span of one block must be, else none.

    PageError names the line that departs from the form.
    """
    start, end = section
    fences = [n for n in range(start, end) if lines[n].startswith("```")]
    if not fences or len(fences) % 2:
        raise PageError(start, "the section must hold exactly one fenced block, or titled ones")
    pairs = list(zip(fences[::2], fences[1::2], strict=True))
    blocks = [_read(lines, opening, closing, marked) for opening, closing in pairs]
    titles = {block.title for block in blocks}
    if len(blocks) > 1 and ("" in titles or len(titles) < len(blocks)):
        raise PageError(start, "the section must hold exactly one fenced block, or titled ones")
    if marked and sum(block.span is not None for block in blocks) != 1:
        raise PageError(start, f"the section must mark one span with {OPENING} and {CLOSING}")
    return tuple(blocks)


def _read(lines: list[str], opening: int, closing: int, marked: bool) -> Block:
    words = lines[opening].removeprefix("```").split()
    if not words:
        raise PageError(opening + 1, "the fence must name its language")
    text = "".join(line + "\n" for line in lines[opening + 1 : closing])
    if marked:
        block = Block(words[0], *_unmark(text, opening))
    else:
        block = Block(words[0], text.encode("utf-8"), None)
    for word in words[1:]:
        _read_word(block, word, opening + 1)
    return block


def _read_word(block: Block, word: str, line: int) -> None:
    key, _, value = word.partition("=")
    if key == "title" and value:
        block.title = value
    elif key == "as" and value in FORMS:
        block.form = value
    elif key == "run" and value:
        block.runs += (value,)
    else:
        _read_context(block.context, word, line)


def _read_context(context: Context, word: str, line: int) -> None:
    key, _, value = word.partition("=")
    field = key.replace("-", "_")
    if field in ("features", "hidden_nodes", "outputs") and value.isdecimal():
        setattr(context, field, int(value))
    elif (field == "task" and value in TASKS) or (field == "host" and value in HOSTS):
        setattr(context, field, value)
    elif field == "outside" and value:
        context.outside = value
        return
    elif field == "seen" and value.count(":"):
        kind, layer, *figures = value.split(":")
        context.seen += ((kind.replace("-", " "), layer, tuple(map(float, figures))),)
        return
    elif field == "target" and value:
        pairs = (one.split(":", 1) for one in value.split(","))
        context.target = read_target(dict(pairs))
        return
    else:
        raise PageError(line, f"'{word}' is not a context; write for example features=4")
    context.origin[field] = "the example"


def _unmark(marked: str, line: int) -> tuple[bytes, tuple[int, int] | None]:
    """Remove the markers and return the text with the span that was between them."""
    before, opening, rest = marked.partition(OPENING)
    inside, closing, after = rest.partition(CLOSING)
    if not opening and CLOSING not in marked:
        return marked.encode("utf-8"), None
    if not opening or not closing or OPENING in rest or CLOSING in after:
        raise PageError(line, f"the block must mark one span with {OPENING} and {CLOSING}")
    start = len(before.encode("utf-8"))
    return (before + inside + after).encode("utf-8"), (start, start + len(inside.encode("utf-8")))
