"""The texts of networks that a run reads: inline ones, and files that are named or included.

A text is what its parser gets; `place` leads from it to the file that people see.  What reads a
language is imported where a text of it is met: most runs have one language.
"""

from __future__ import annotations

from netsharp_lsp.cntk.brainscript.reading.known import known_text
from netsharp_lsp.cntk.configuration.named_files import file_text
from netsharp_lsp.cntk.configuration.sources import Source
from netsharp_lsp.cntk.networks.faults import Place

TYPE_CHECKING = False
if TYPE_CHECKING:
    from netsharp_lsp.cntk.brainscript.reading.known import KnownText
    from netsharp_lsp.cntk.brainscript.reading.syntax import Script
    from netsharp_lsp.cntk.configuration.traced import Traced
    from netsharp_lsp.cntk.mel.reading import MelScript
    from netsharp_lsp.cntk.ndl.evaluation import Part
    from netsharp_lsp.cntk.ndl.syntax import NdlScript

#: The name of a text of BrainScript that stands in a configuration.
INLINE = "<builder>"


class NetworkText:
    """One text.  `name` is what places in it are called by its parser; `traced` is where an
    inline text comes from, None for a file.
    """

    __slots__ = ("_known", "_mel", "_ndl", "data", "language", "name", "traced")

    def __init__(self, language: str, name: str, data: bytes, traced: Traced | None = None) -> None:
        self.language = language
        self.name = name
        self.data = data
        self.traced = traced
        self._known: KnownText | None = None
        self._mel: MelScript | None = None
        self._ndl: NdlScript | None = None

    @property
    def known(self) -> KnownText:
        """What can be told of the text alone, where it is BrainScript."""
        if self._known is None:
            self._known = known_text(self.data, self.name)
        return self._known

    @property
    def script(self) -> Script:
        """The text parsed, where it is BrainScript."""
        return self.known.script

    @property
    def ndl(self) -> NdlScript:
        """The statements of the text, where it is NDL; offsets in it are those of `data`, except
        for a file alone, whose comments are left out.
        """
        if self._ndl is None:
            from netsharp_lsp.cntk.ndl.reading import read_script

            text = self.traced or file_text(Source(self.name, self.data), None)
            self._ndl = read_script(text)
        return self._ndl

    @property
    def mel(self) -> MelScript:
        """The statements of the text, where it is MEL with its variables in place."""
        if self._mel is None:
            from netsharp_lsp.cntk.mel.reading import MelScript, read

            text = self.traced
            self._mel = MelScript([], broken=False) if text is None else read(text)
        return self._mel

    @classmethod
    def of_part(cls, part: Part) -> NetworkText:
        """A script of NDL: a section or a file that was read."""
        traced = part.script.text
        text = cls("ndl", traced.place(0, 0).source.name, traced.text, traced)
        text._ndl = part.script
        return text

    def place(self, start: int, end: int) -> Place:
        """Where a span of the text stands in a file."""
        if self.traced is None:
            return Place(self.name, start, end)
        found = self.traced.place(start, end)
        return Place(found.source.name, found.start, found.end)

    def offset(self, source: str, offset: int) -> int | None:
        """Where an offset of a source that people see lies in the text; None where it does not."""
        if self.traced is None:
            return offset if source == self.name else None
        return self.traced.inner(source, offset)
