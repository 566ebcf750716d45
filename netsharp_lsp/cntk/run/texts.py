"""The texts of networks that a run reads: inline ones, and files that are named or included.

A text is what its parser gets; `place` maps it to the file that users see. The parser of a language
is imported on first use: most runs have one language.
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

#: The name of a text of BrainScript in a configuration.
INLINE = "<builder>"


class NetworkText:
    """One text. `name` is the source name in its parser's places; `traced` is the origin of an
    inline text, None for a file.
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
        """Return the analysis of the text alone, where it is BrainScript."""
        if self._known is None:
            self._known = known_text(self.data, self.name)
        return self._known

    @property
    def script(self) -> Script:
        """Return the text parsed, where it is BrainScript."""
        return self.known.script

    @property
    def ndl(self) -> NdlScript:
        """Return the statements of the text, where it is NDL; offsets in it are those of `data`,
        except for a file alone, whose comments are removed.
        """
        if self._ndl is None:
            from netsharp_lsp.cntk.ndl.reading import read_script

            text = self.traced or file_text(Source(self.name, self.data), None)
            self._ndl = read_script(text)
        return self._ndl

    @property
    def mel(self) -> MelScript:
        """Return the statements of the text, where it is MEL with its variables substituted."""
        if self._mel is None:
            from netsharp_lsp.cntk.mel.reading import MelScript, read

            text = self.traced
            self._mel = MelScript([], broken=False) if text is None else read(text)
        return self._mel

    @classmethod
    def of_part(cls, part: Part) -> NetworkText:
        """Return a script of NDL: a section or a file that was read."""
        traced = part.script.text
        text = cls("ndl", traced.place(0, 0).source.name, traced.text, traced)
        text._ndl = part.script
        return text

    def place(self, start: int, end: int) -> Place:
        """Return the place in a file of a span of the text."""
        if self.traced is None:
            return Place(self.name, start, end)
        found = self.traced.place(start, end)
        return Place(found.source.name, found.start, found.end)

    def offset(self, source: str, offset: int) -> int | None:
        """Return the offset in the text of an offset of a source that users see; None where it is
        not in the text.
        """
        if self.traced is None:
            return offset if source == self.name else None
        return self.traced.inner(source, offset)
