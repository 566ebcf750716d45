"""The protocol on pygls: plain values go out as they are, typed ones through its converter.

Everything that comes in is handed to the dispatcher; pygls' own documents and handlers stay out
of the way, for they split the whole text anew at each change.
"""

from __future__ import annotations

import json
from typing import Any, TypeVar

from lsprotocol import types as lsp
from pygls.exceptions import JsonRpcException
from pygls.lsp.server import LanguageServer
from pygls.protocol import LanguageServerProtocol, default_converter

from netsharp_lsp import __version__

Typed = TypeVar("Typed")

_PARTS = ("id", "method", "params", "result", "error")


class RefusedError(Exception):
    """Why a request is not answered: one of the protocol's error codes, and a sentence."""

    def __init__(self, code: int, message: str, data: Any = None) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.data = data


class Protocol(LanguageServerProtocol):
    """Requests and notifications to the client, and answers."""

    def _register_builtin_features(self) -> None:
        """Leave pygls' handlers out: ours keep the documents."""

    def structure(self, value: Any, kind: type[Typed]) -> Typed:
        """Return a plain value as one of the protocol's types."""
        made: Typed = self._converter.structure(value, kind)
        return made

    def prepare(self, kind: Any) -> None:
        """Write the function that makes a type of plain values, before it is first needed."""
        self._converter.get_structure_hook(kind)

    def answer(self, request: int | str | None, result: Any) -> None:
        """Send the result of a request."""
        self._write({"jsonrpc": "2.0", "id": request, "result": self.plain(result)})

    def refuse(self, request: int | str | None, refused: RefusedError) -> None:
        """Send why a request has no result."""
        error = {"code": refused.code, "message": refused.message}
        if refused.data is not None:
            error["data"] = refused.data
        self._write({"jsonrpc": "2.0", "id": request, "error": error})

    def receive_answer(self, message: dict[str, Any]) -> None:
        """Settle a request to the client with its plain result, or with an exception."""
        request, error = message.get("id"), message.get("error")
        future = self._request_futures.pop(request, None)  # type: ignore[arg-type]
        self._result_types.pop(request, None)  # type: ignore[arg-type]
        if future is None or future.cancelled():
            return
        if isinstance(error, dict):
            said = lsp.ResponseError(error.get("code", 0), str(error.get("message", "")))
            future.set_exception(JsonRpcException.from_error(said))
        else:
            future.set_result(message.get("result"))

    def plain(self, value: Any) -> Any:
        """Return a value as JSON can write it."""
        if value is None or isinstance(value, (dict, str, int, float)):
            return value
        if isinstance(value, (list, tuple)):
            return [self.plain(item) for item in value]
        return self._converter.unstructure(value)

    def _send_data(self, data: Any) -> None:
        """Write what pygls made: its envelopes have the same parts."""
        parts = {name: self.plain(getattr(data, name)) for name in _PARTS if hasattr(data, name)}
        if parts.get("params", ...) is None:
            del parts["params"]
        self._write({"jsonrpc": "2.0", **parts})

    def _write(self, message: dict[str, Any]) -> None:
        if self.writer is None:
            return
        body = json.dumps(message, separators=(",", ":")).encode("ascii")
        try:
            self.writer.write(b"Content-Length: %d\r\n\r\n%b" % (len(body), body))
        except (OSError, ValueError):
            self.writer = None  # The client is gone; the end of its stream ends the server.


class Server(LanguageServer):
    """pygls' face of the connection: what can be sent to the client, and progress."""

    protocol: Protocol

    def __init__(self) -> None:
        super().__init__(
            "netsharp", __version__, protocol_cls=Protocol, converter_factory=default_converter
        )
