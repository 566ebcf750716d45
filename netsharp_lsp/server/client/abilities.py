"""The declared abilities of a client; knows no document and sends nothing."""

from __future__ import annotations

from functools import cached_property
from typing import Any

#: Encodings of positions from the best: our texts are UTF-8, where a column is a difference of
#: offsets; a code point needs one pass over a line, a UTF-16 unit two.
ENCODINGS = ("utf-8", "utf-32", "utf-16")


class Client:
    """The capabilities of a client, as the plain JSON of `initialize`."""

    def __init__(self, capabilities: object) -> None:
        self._capabilities = capabilities

    def value(self, path: str) -> Any:
        """Return a capability by its path (`textDocument.hover.contentFormat`); None if absent."""
        found: Any = self._capabilities
        for name in path.split("."):
            found = found.get(name) if isinstance(found, dict) else None
        return found

    def can(self, path: str) -> bool:
        """Return whether a capability is there and not false."""
        return self.value(path) not in (None, False)

    def names(self, path: str) -> list[str]:
        """Return a capability that is a list of texts; empty where it is none."""
        found = self.value(path)
        return [item for item in found if isinstance(item, str)] if isinstance(found, list) else []

    @cached_property
    def encoding(self) -> str:
        """The encoding of positions, which client and server agree on."""
        offered = self.names("general.positionEncodings")
        return next((name for name in ENCODINGS if name in offered), "utf-16")

    @cached_property
    def pulls(self) -> bool:
        """Return whether the client asks for diagnostics, so that none are pushed."""
        return self.can("textDocument.diagnostic")

    @cached_property
    def shows_pages(self) -> bool:
        """Return whether the client opens the page that describes a code."""
        return self._of_diagnostics("codeDescriptionSupport")

    @cached_property
    def fades(self) -> bool:
        """Return whether the client fades unnecessary code."""
        return self._of_diagnostics("tagSupport")

    @cached_property
    def relates(self) -> bool:
        """Return whether the client shows other places that belong to a diagnostic."""
        return self._of_diagnostics("relatedInformation")

    @cached_property
    def keeps_data(self) -> bool:
        """Return whether the client brings back the data of a diagnostic."""
        return self._of_diagnostics("dataSupport")

    @cached_property
    def retries(self) -> frozenset[str]:
        """The methods that the client asks again where the text has changed in the meantime."""
        return frozenset(self.names("general.staleRequestSupport.retryOnContentModified"))

    def _of_diagnostics(self, ability: str) -> bool:
        """Return whether the client can do it for diagnostics, pushed or pulled."""
        ways = ("publishDiagnostics", "diagnostic")
        return any(self.can(f"textDocument.{way}.{ability}") for way in ways)

    def markdown(self, path: str) -> bool:
        """Return whether the client shows Markdown in the feature that the path names."""
        return "markdown" in self.names(path)

    def names_kinds(self, path: str) -> bool:
        """Return whether the client says which kinds it knows, and so takes others without harm.

        One that says nothing knows those of the protocol's first version alone.
        """
        return isinstance(self.value(f"{path}.valueSet"), list)
