"""One call of a command: its arguments, and how its outcome reaches a person with any client."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from lsprotocol import types as lsp
from pygls.exceptions import JsonRpcException

from netsharp_lsp.server.answers.writing import workspace_edit
from netsharp_lsp.server.surroundings.workspace_files import path_of, uri_of
from netsharp_lsp.server.transport.protocol import RefusedError
from netsharp_lsp.server.transport.shapes import shown

if TYPE_CHECKING:
    from collections.abc import Sequence

    from netsharp_lsp.ide.answers import FileEdits
    from netsharp_lsp.server.documents.views import OpenDocument
    from netsharp_lsp.server.session import Session
    from netsharp_lsp.text.edits import Edit

Plain = dict[str, Any]


class Execution:
    """A command being executed for a session."""

    def __init__(
        self,
        session: Session,
        command: str,
        arguments: Sequence[Any],
        token: str | int | None = None,
    ) -> None:
        self.session = session
        self.command = command
        self.arguments = arguments
        self.token = token

    @staticmethod
    def malformed(sentence: str) -> RefusedError:
        """Return the error of a call that cannot be meant so."""
        return RefusedError(lsp.ErrorCodes.InvalidParams, sentence)

    def text(self, number: int, what: str) -> str:
        """Return an argument that must be text; `what` it is, for who left it out."""
        value = self.text_or_none(number, what)
        if not value:
            raise self.malformed(f"{self.command} needs {what} as argument {number + 1}.")
        return value

    def text_or_none(self, number: int, what: str) -> str | None:
        """Return an argument that is text where it is not left out."""
        value = self.argument(number)
        if value is not None and not isinstance(value, str):
            raise self.malformed(
                f"params.arguments[{number}]: {self.command} needs {what} as argument "
                f"{number + 1}, found {shown(value)}."
            )
        return value

    def argument(self, number: int) -> Any:
        """Return an argument, None where it is left out."""
        return self.arguments[number] if number < len(self.arguments) else None

    def document(self) -> OpenDocument | None:
        """Return the document that the first argument names, or say that it is not open."""
        uri = self.text(0, "the URI of a document")
        found = self.session.document(uri)
        if found is None:
            self.warn(f"{name_of(uri)} is not open: open it first.")
        elif not found.views:
            self.warn(f"{name_of(uri)} holds no specification.")
            return None
        return found

    def warn(self, sentence: str) -> None:
        """Show a warning: what could not be done."""
        self.session.warn(sentence)

    def show_message(self, sentence: str) -> None:
        """Show a message that something was done."""
        self.session.show_message(sentence)

    async def show(
        self,
        path: str,
        what: str,
        selection: Plain | None = None,
        external: bool = False,
    ) -> None:
        """Have the client show a file; where it cannot, say where the file is."""
        wanted: Plain = {"uri": uri_of(path), "takeFocus": True, "external": external}
        if selection is not None:
            wanted["selection"] = selection
        if self.session.client.can("window.showDocument.support"):
            answer = await self._ask("window/showDocument", wanted)
            if isinstance(answer, dict) and answer.get("success"):
                return
        line = f":{selection['start']['line'] + 1}" if selection is not None else ""
        self.show_message(f"{what}: {path}{line}")

    async def apply(
        self,
        document: OpenDocument,
        edits: Sequence[Edit],
        label: str,
        elsewhere: Sequence[FileEdits] = (),
    ) -> Plain | None:
        """Have the client change a document, and other files; one that cannot gets the change as
        the result.
        """
        if not edits and not elsewhere:
            return None
        edit = workspace_edit(self.session, document, edits, elsewhere)
        if not self.session.client.can("workspace.applyEdit"):
            self.show_message(
                f"{label}: this editor changes no text for a command; its own can do it."
            )
            return edit
        answer = await self._ask("workspace/applyEdit", {"label": label, "edit": edit})
        if not isinstance(answer, dict) or not answer.get("applied"):
            reason = answer.get("failureReason") if isinstance(answer, dict) else None
            why = f": {reason}" if reason else ""
            self.warn(f"{label}: the editor did not make the change{why}.")
        return None

    async def choose(self, question: str, titles: Sequence[str]) -> str | None:
        """Let the user choose one item; None where none is chosen or the client cannot ask."""
        actions = [{"title": title} for title in titles]
        wanted = {"type": int(lsp.MessageType.Info), "message": question, "actions": actions}
        answer = await self._ask("window/showMessageRequest", wanted)
        return answer.get("title") if isinstance(answer, dict) else None

    async def _ask(self, method: str, params: Plain) -> Any:
        try:
            return await self.session.request(method, params)
        except JsonRpcException as error:
            self.session.log(f"{method}: {error}.")
            return None


def name_of(uri: str) -> str:
    """Return the name of a document to show."""
    return os.path.basename(path_of(uri) or uri)
