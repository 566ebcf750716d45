"""A family of texts of which each stands for itself; imports nothing, for every start needs it."""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from netsharp_engine.limits import Limit
    from netsharp_lsp.family import Configurations, Experiments, Migrations, Training
    from netsharp_lsp.interface import Foreign, Language, Sample
    from netsharp_lsp.settings import Settings
    from netsharp_lsp.text.decode import DecodeError, Source
    from netsharp_lsp.text.extent import Extent


class TextFamily:
    """Languages whose texts are UTF-8 and are known by their suffixes alone."""

    looks_inside = False
    experiments: Experiments | None = None
    configurations: Configurations | None = None
    migrations: Migrations | None = None

    def __init__(
        self, family_id: str, title: str, suffixes: Mapping[str, str], *languages: Language
    ) -> None:
        self.id = family_id
        self.title = title
        self.suffixes = suffixes
        self._languages = {language.id: language for language in languages}

    @property
    def largest(self) -> Limit | None:
        """Return the number of bytes above which a text is not read."""
        from netsharp_lsp.limits import SPECIFICATION_BYTES

        return SPECIFICATION_BYTES

    @property
    def extent(self) -> Extent:
        """Return the number of tokens above which a text is not parsed."""
        from netsharp_lsp.text.extent import SPECIFICATION

        return SPECIFICATION

    @property
    def sample(self) -> Sample | None:
        """None."""
        return None

    @property
    def settings(self) -> Mapping[str, Callable[[object], object]]:
        """No keys."""
        return {}

    def keeps_columns(self, settings: Settings) -> bool:
        """Return False: a text has one style."""
        return False

    @property
    def training(self) -> Training | None:
        """Return None, as nothing is trained."""
        return None

    def language(self, language_id: str) -> Language:
        """Return one of the languages."""
        return self._languages[language_id]

    def recognise(self, name: str, data: bytes) -> str | Foreign:
        """Return the language of a file by its name."""
        return self.suffixes[os.path.splitext(name)[1].lower()]

    def decode(self, data: bytes) -> Source | DecodeError:
        """Read UTF-8, or UTF-16 with a mark."""
        from netsharp_lsp.text.decode import decode

        return decode(data)
