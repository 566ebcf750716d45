"""The words of a script's commands, with what is known of them; knows no kind of script."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

#: Stands for what is not known where a value is guessed.
OPEN = "\0"


class ScriptPart:
    """A piece of a word. `name`: the variable that it comes from where its value is unknown; `text`
    is then its source, and `guess` a guess of its value, with `OPEN` for unknown parts.
    """

    __slots__ = ("guess", "name", "text")

    def __init__(self, text: str, name: str = "", guess: str = OPEN) -> None:
        self.text = text
        self.name = name
        self.guess = text if not name else guess


class ScriptWord:
    """A word as a command gets it, and its span in the script."""

    __slots__ = ("parts", "span")

    def __init__(self, parts: Sequence[ScriptPart], span: tuple[int, int]) -> None:
        self.parts = parts
        self.span = span

    @property
    def text(self) -> str:
        """Return the word as it is shown."""
        return "".join(part.text for part in self.parts)

    @property
    def is_known(self) -> bool:
        """Return whether all of it is known."""
        return not any(part.name for part in self.parts)


class Started:
    """A command that a script reaches: its words and the folder, where that is known."""

    __slots__ = ("folder", "words")

    def __init__(self, words: list[ScriptWord], folder: str) -> None:
        self.words = words
        self.folder = folder
