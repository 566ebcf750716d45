"""The values that features of an editor are made of; all offsets are UTF-8 bytes, half-open.

A language creates them and a server translates them: neither has to know the other.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

from netsharp_lsp.diagnostics.model import Edit

#: A half-open range of bytes.
Range = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Elsewhere:
    """A range in another file, by its absolute path."""

    file: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class FileEdits:
    """Changes of another file, by its absolute path; `creates`: the file does not exist yet.

    A file that is created gets its text from one edit at its start.
    """

    file: str
    edits: tuple[Edit, ...]
    creates: bool = False


@dataclass(frozen=True, slots=True)
class Changes:
    """Changes of this text, and of other files that belong to them."""

    edits: tuple[Edit, ...]
    elsewhere: tuple[FileEdits, ...] = ()


@dataclass(frozen=True, slots=True)
class Migration:
    """The changes that translate a text and its other files into another language; empty where
    there is nothing to do or it cannot be done. `sentences`: why not, or what to check afterwards.
    """

    changes: Changes | None
    sentences: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why a request is refused, as a sentence."""

    message: str


@dataclass(frozen=True, slots=True)
class Command:
    """A command that a client may have executed: an id of the server's, and its arguments.

    `DOCUMENT` among the arguments is replaced by the document's URI by the server.
    """

    id: str
    title: str
    arguments: tuple[Any, ...] = ()


#: Placeholder for the URI of the document in a command's arguments.
DOCUMENT = object()


@dataclass(frozen=True, slots=True)
class Hover:
    """The description of the words at a place, in Markdown."""

    markdown: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class HintOptions:
    """Which inlay hints a user wants to see."""

    shapes: bool = True
    parameters: bool = True
    constants: bool = False
    defaults: bool = False


@dataclass(frozen=True, slots=True)
class InlayHint:
    """A short text shown at an offset of the text; at most 30 characters."""

    offset: int
    label: str
    kind: Literal["shape", "constant", "default"]
    tooltip: str = ""


CompletionKind = Literal[
    "keyword",
    "layer",
    "constant",
    "attribute",
    "activation",
    "function",
    "value",
    "snippet",
    "node",
    "section",
    "file",
]


class Completion(NamedTuple):
    """A proposal that replaces the bytes from `start` to `end`.

    `insert` is a snippet in the syntax of editors (`${1:name}`, `$0`) where `snippet` is set, and
    `plain` is what a client without snippets inserts. `topic` is the key for which `document` of
    the snapshot returns documentation when the proposal is selected; empty for none. `rank` sorts.
    """

    label: str
    kind: CompletionKind
    start: int
    end: int
    insert: str
    plain: str
    snippet: bool = False
    detail: str = ""
    topic: str = ""
    rank: int = 0

    @property
    def filter_text(self) -> str:
        """Return the text that the word at the cursor is compared with: the label without its
        blanks.

        An editor keeps a list as long as some proposal matches what is typed; one that also matched
        a blank would be kept for the next word, for which no list was requested.
        """
        return "".join(self.label.replace("…", " ").split()) or self.plain.strip()[:1]


@dataclass(frozen=True, slots=True)
class Completions:
    """The proposals for a place; `incomplete`: further typing may add proposals."""

    items: tuple[Completion, ...] = ()
    incomplete: bool = False


@dataclass(frozen=True, slots=True)
class Parameter:
    """One parameter of a signature: its part of the label, in characters, and what it is."""

    start: int
    end: int
    documentation: str = ""


@dataclass(frozen=True, slots=True)
class Signature:
    """The form of what is being written; `active` is the parameter at the cursor, None for none."""

    label: str
    documentation: str
    parameters: tuple[Parameter, ...]
    active: int | None


@dataclass(frozen=True, slots=True)
class Target:
    """A declaration to jump to: its whole range, and its name.

    `file`: the absolute path of the file that contains it, None for this text.
    """

    start: int
    end: int
    name_start: int
    name_end: int
    file: str | None = None


@dataclass(frozen=True, slots=True)
class Highlight:
    """An occurrence of the name at the cursor: `write` where it is declared."""

    start: int
    end: int
    kind: Literal["read", "write"]


@dataclass(frozen=True, slots=True)
class Renaming:
    """The name that can be renamed at a place."""

    start: int
    end: int
    name: str


SymbolKind = Literal[
    "constant",
    "input",
    "hidden",
    "output",
    "bundle",
    "attribute",
    "share",
    "command",
    "section",
    "key",
    "function",
    "node",
]


@dataclass(frozen=True, slots=True)
class Symbol:
    """An entry of the outline, with those inside it."""

    name: str
    detail: str
    kind: SymbolKind
    start: int
    end: int
    name_start: int
    name_end: int
    children: tuple[Symbol, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class OutlinePart:
    """The symbols of `size` bytes of a text that begin with a line; offsets count from there.

    A part that an edit does not change is the same object in the next version; `written_forms`
    caches what others compute of it, by their own keys.
    """

    size: int
    symbols: tuple[Symbol, ...]
    written_forms: dict[object, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Fold:
    """Text that can be folded, from the line of `start` to the line of `end`."""

    start: int
    end: int
    kind: Literal["region", "comment"] = "region"


#: The kinds of semantic tokens, by number; standard names of the protocol, so that every theme
#: has colours for them.
TOKEN_KINDS = (
    "keyword",
    "class",
    "variable",
    "property",
    "function",
    "enumMember",
    "number",
    "operator",
    "comment",
    "parameter",
    "macro",
    "string",
    "namespace",
)
#: The modifiers of semantic tokens, by bit.
TOKEN_MODIFIERS = ("declaration", "readonly", "defaultLibrary", "unused")

#: start, end, index into `TOKEN_KINDS`, bits of `TOKEN_MODIFIERS`; never over a line end.
Token = tuple[int, int, int, int]


@dataclass(frozen=True, slots=True)
class Link:
    """Text with a target: a URL, or a rule's code for its page."""

    start: int
    end: int
    url: str = ""
    code: str = ""
    tooltip: str = ""


@dataclass(frozen=True, slots=True)
class Flow:
    """A layer in the flow of data: the places are those that name the connection."""

    target: Target
    name: str
    detail: str
    kind: SymbolKind
    places: tuple[Range, ...] = ()


@dataclass(frozen=True, slots=True)
class Lens:
    """A line of its own above a declaration; `lens_title` computes its title later, from `key`."""

    start: int
    end: int
    title: str = ""
    command: Command | None = None
    key: str = ""


@dataclass(frozen=True, slots=True)
class Action:
    """An action on the text at a place.

    `kind` is the protocol's ("quickfix", "refactor.extract", ...). `fixes` are the codes and spans
    of the diagnostics that it removes; where there may be others of that code at that place,
    `message` is their text. `rename_at`: where the new name is after the edits, for a client that
    lets people type another at once. `elsewhere`: the changes of other files. `sentences`: what a
    user has to know before it is applied, and to check afterwards.
    """

    title: str
    kind: str
    edits: tuple[Edit, ...] = ()
    preferred: bool = False
    fixes: tuple[tuple[str, int, int], ...] = ()
    message: str = ""
    command: Command | None = None
    rename_at: int | None = None
    elsewhere: tuple[FileEdits, ...] = ()
    sentences: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class LensOptions:
    """Which lenses a person wants, and what is around the document."""

    run_file: str | None = None
    parameters: bool = False
    #: Whether commands may be run.
    runs: bool = False
    #: Whether a trained model of the document is there.
    trained: bool = False


@dataclass(frozen=True, slots=True)
class StartedRun:
    """The start of a program of several files for a document: its arguments and the folder.

    `files` are those that define it, `model` is where a command stores its model, empty for none.
    """

    items: tuple[str, ...]
    directory: str
    files: tuple[str, ...] = ()
    model: str = ""


@dataclass(frozen=True, slots=True)
class Graph:
    """The picture of a network: the JSON of `netsharp/graph`, with spans still in bytes.

    `description` is that of `netsharp describe` with `picture` beside it; `places` gives for each
    layer's name where it is declared, `bundle_places` the span of the bundle for (layer, index),
    and `call_places` the span for the number of a call.
    """

    description: dict[str, Any]
    places: dict[str, Target] = field(default_factory=dict)
    bundle_places: dict[tuple[str, int], Range] = field(default_factory=dict)
    call_places: dict[int, Target] = field(default_factory=dict)
