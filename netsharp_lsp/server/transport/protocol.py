"""The protocol on pygls: plain values go out as they are, typed ones through its converter.

Every message is passed to the dispatcher; pygls' own documents and handlers are not used, as
they split the whole text again at each change.
"""

from __future__ import annotations

import json
from math import isfinite
from typing import TYPE_CHECKING, Any, TypeVar

from pygls.exceptions import JsonRpcException
from pygls.lsp.server import LanguageServer
from pygls.protocol import LanguageServerProtocol, default_converter

from netsharp_lsp import __version__
from netsharp_lsp.server.transport.frames import is_id
from netsharp_lsp.server.transport.outbox import NEEDED, Standing

if TYPE_CHECKING:
    from typing import Protocol as Interface

    class Sink(Interface):
        """A sink of messages as bytes, each with its priority."""

        def write(self, data: bytes, standing: Standing) -> None:
            """Take one."""


Typed = TypeVar("Typed")

_PARTS = ("id", "method", "params", "result", "error")


class RefusedError(Exception):
    """Why a request is not answered: one of the protocol's error codes, and a sentence."""

    def __init__(self, code: int, message: str, data: Any = None) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.data = data


class Written:
    """A value that is JSON already; alone, or in tables and lists of others."""

    __slots__ = ("text",)

    def __init__(self, text: str) -> None:
        self.text = text


class Protocol(LanguageServerProtocol):
    """Requests and notifications to the client, and answers."""

    #: Where messages go; None while there is no client.
    outbox: Sink | None = None

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
        """Settle a request to the client with its plain result, or with an exception.

        A response to no request of ours is ignored: an error about it could be answered too.
        """
        request, error = message.get("id"), message.get("error")
        if not is_id(request):
            return
        future = self._request_futures.pop(request, None)
        self._result_types.pop(request, None)
        if future is None or future.cancelled():
            return
        if error is None:
            future.set_result(message.get("result"))
        else:
            future.set_exception(_refusal(error))

    def plain(self, value: Any) -> Any:
        """Return a value as JSON can write it."""
        if value is None or isinstance(value, (dict, str, int, float, Written)):
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
        if self.outbox is None:
            return
        try:
            body = _text_of(message)
        except ValueError:
            body = _text_of(_finite(message))
        data = b"Content-Length: %d\r\n\r\n%b" % (len(body), body.encode("ascii"))
        self.outbox.write(data, priority_of(message))


def _text_of(value: Any) -> str:
    """Return a value in JSON; what holds nothing that is written already is written at once."""
    try:
        return json.dumps(value, separators=(",", ":"), allow_nan=False)
    except TypeError:
        if isinstance(value, Written):
            return value.text
        if isinstance(value, dict):
            parts = [f"{json.dumps(name)}:{_text_of(each)}" for name, each in value.items()]
            return f"{{{','.join(parts)}}}"
        if isinstance(value, list):
            return f"[{','.join(map(_text_of, value))}]"
        raise


def priority_of(message: dict[str, Any]) -> Standing:
    """Return the importance of a message for a client that reads it late.

    The newest diagnostics of a document and the newest report of a progress stand for the older;
    lines of logs and of runs may be left out.  All else is needed.
    """
    method, params = message.get("method"), message.get("params")
    read = _STANDINGS.get(method) if isinstance(method, str) else None
    return NEEDED if read is None or not isinstance(params, dict) else read(params)


def _of_progress(params: dict[str, Any]) -> Standing:
    """Return a report; its beginning, its end and pieces of results are needed."""
    value = params.get("value")
    if not isinstance(value, dict) or value.get("kind") != "report":
        return NEEDED
    return Standing(("progress", params.get("token")), may_go=True)


def _of_run(params: dict[str, Any]) -> Standing:
    return Standing(may_go=True) if params.get("event") in ("step", "epoch") else NEEDED


_STANDINGS = {
    "textDocument/publishDiagnostics": lambda params: Standing(("diagnostics", params.get("uri"))),
    "window/logMessage": lambda _: Standing(may_go=True),
    "$/progress": _of_progress,
    "netsharp/runProgress": _of_run,
}


def _refusal(error: Any) -> JsonRpcException:
    """Return the error that a client sends in place of a result, whatever its type."""
    fields = error if isinstance(error, dict) else {}
    code = fields.get("code")
    known = isinstance(code, int) and not isinstance(code, bool)
    return JsonRpcException(str(fields.get("message", error)), code if known else None)


def _finite(value: Any) -> Any:
    """Return a value with null for every number that JSON cannot write."""
    if isinstance(value, float):
        return value if isfinite(value) else None
    if isinstance(value, dict):
        return {name: _finite(each) for name, each in value.items()}
    return [_finite(each) for each in value] if isinstance(value, list) else value


class Server(LanguageServer):
    """pygls' face of the connection: what can be sent to the client, and progress."""

    protocol: Protocol

    def __init__(self) -> None:
        super().__init__(
            "netsharp", __version__, protocol_cls=Protocol, converter_factory=default_converter
        )
