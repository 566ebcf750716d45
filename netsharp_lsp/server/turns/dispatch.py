"""Takes messages in turn, finds their handlers, and answers; knows no method's meaning.

Handlers are synchronous and run completely against the newest version; one that returns an
awaitable continues beside the others.  In idle moments diagnostics are sent and chores are done.
"""

from __future__ import annotations

import asyncio
import inspect
from collections import Counter
from functools import partial
from importlib import import_module
from itertools import count
from typing import TYPE_CHECKING, Any

from lsprotocol import types as lsp

from netsharp_lsp.cancellation import WorkCancelled, cancel_when
from netsharp_lsp.server.handlers import NOTIFICATIONS, PLAIN, REQUESTS, WHOLE
from netsharp_lsp.server.transport.frames import CANCEL, LostError, MalformedError, is_id
from netsharp_lsp.server.transport.parameters import CHECKS, demand
from netsharp_lsp.server.transport.protocol import RefusedError
from netsharp_lsp.server.transport.shapes import anything, check_of, shown
from netsharp_lsp.server.turns.guard import fault
from netsharp_lsp.server.turns.memory import Collector
from netsharp_lsp.server.turns.warming import chores

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from netsharp_lsp.server.session import Session
    from netsharp_lsp.server.transport.frames import Inbox, Message
    from netsharp_lsp.server.transport.outbox import Outbox
    from netsharp_lsp.server.transport.shapes import Check

    Handler = Callable[[Session, Any], Any]

CLEAN, UNCLEAN = 0, 1
PULL = "textDocument/diagnostic"
#: Requests that a client sends by itself at each version and no user waits for: others go first.
UNHURRIED = WHOLE | {PULL}
#: How often such work is begun again because of anything but a new version, and the seconds before.
RESTARTS, PAUSE = 8, 0.002
#: Seconds that work beside the others has to end when the server does.
LAST = 2.0


class Dispatcher:
    """Handles one client's messages until it says `exit` or its stream ends."""

    def __init__(self, session: Session, inbox: Inbox) -> None:
        self.session = session
        self.inbox = inbox
        self.collector = Collector()
        self._chores: Iterator[Callable[[], object]] | None = None
        self._handlers: dict[str, tuple[Handler, type | None, Check]] = {}
        self._running: dict[int | str, asyncio.Future[Any]] = {}
        #: How often diagnostics of a version were left half done for other messages.
        self._restarts: Counter[tuple[str, int | None]] = Counter()

    async def run(self, outbox: Outbox) -> int:
        """Handle messages; the exit code: 0 after `shutdown`, else 1.

        LostError, answered already, where nothing that follows can be read.
        """
        while True:
            await self.inbox.arrival()
            self.collector.wake()
            handled = 0
            while self.inbox:
                if outbox.full and not await outbox.room(lambda: self.inbox.ended):
                    return UNCLEAN
                message = self.inbox.take()
                if message is None or self._is_exit(message):
                    await self._cancel_all()
                    return CLEAN if self.session.stage == "ending" else UNCLEAN
                self.handle(message)
                handled += 1
                if isinstance(message, LostError):
                    await self._cancel_all()
                    raise message
                # Work that a message started is done before the next message is answered.
                await asyncio.sleep(0)
            await self._rest()
            self.collector.rest(handled)

    def handle(self, message: Message | MalformedError) -> None:
        """Handle one message, whatever it is."""
        protocol = self.session.server.protocol
        if isinstance(message, MalformedError):
            protocol.refuse(message.request, RefusedError(message.code, str(message)))
            return
        method, request, params = message.get("method"), message.get("id"), message.get("params")
        if not isinstance(method, str) and ("result" in message or "error" in message):
            protocol.receive_answer(message)
        elif "id" not in message and isinstance(method, str):
            self._notice(method, params)
        elif "id" in message and not is_id(request):
            sentence = f"id: an integer or a text is needed, found {shown(request)}."
            protocol.refuse(None, RefusedError(lsp.ErrorCodes.InvalidRequest, sentence))
        elif isinstance(method, str) and is_id(request):
            self._request(request, method, params)
        else:
            sentence = "A message has neither method nor result."
            protocol.refuse(request, RefusedError(lsp.ErrorCodes.InvalidRequest, sentence))

    async def _cancel_all(self) -> None:
        """Answer requests in progress: they are cancelled."""
        running = list(self._running.values())
        for future in running:
            future.cancel()
        if running:
            await asyncio.wait(running, timeout=LAST)

    def _notice(self, method: str, params: Any) -> None:
        if method == CANCEL:
            self._cancel(params)
            return
        if method not in NOTIFICATIONS or self.session.stage != "ready":
            return
        try:
            handler, kind, check = self._handler(method, NOTIFICATIONS[method])
            done = handler(self.session, self._read(params, kind, check))
            if inspect.isawaitable(done):
                future = asyncio.ensure_future(done)
                future.add_done_callback(lambda ended: self._finish_notice(method, params, ended))
        except RefusedError as refused:
            self.session.log(f"{method}: {refused.message}")
        except Exception as error:
            fault(self.session, method, params, error)

    def _cancel(self, params: Any) -> None:
        """Cancel a request in progress; an invalid id is logged."""
        try:
            demand(CHECKS[CANCEL], params)
        except RefusedError as refused:
            self.session.server.protocol.refuse(None, refused)
            return
        running = self._running.get(params["id"])
        if running is not None:
            running.cancel()

    def _finish_notice(self, method: str, params: Any, ended: asyncio.Future[Any]) -> None:
        error = None if ended.cancelled() else ended.exception()
        if error is not None:
            fault(self.session, method, params, error)

    def _request(self, request: int | str, method: str, params: Any) -> None:
        try:
            self._admit(request, method, params)
            handler, kind, check = self._handler(method, REQUESTS[method])
            given = self._read(params, kind, check)
            result = self._result(request, method, params, lambda: handler(self.session, given))
        except Exception as error:
            self._refuse(request, method, params, error)
            return
        if inspect.isawaitable(result):
            future = self._running[request] = asyncio.ensure_future(result)
            future.add_done_callback(lambda done: self._answer_later(request, method, params, done))
        else:
            self._answer(request, method, params, result)

    def _result(self, request: int | str, method: str, params: Any, work: Callable[[], Any]) -> Any:
        """Return the result of a request, or an awaitable of it where it had to give way."""
        if method not in UNHURRIED:
            return work()
        try:
            with cancel_when(lambda: bool(self.inbox)):
                return work()
        except WorkCancelled:
            begun = self._version(_document(params))
            return self._later(request, method, params, (begun, work))

    async def _later(
        self,
        request: int | str,
        method: str,
        params: Any,
        begun: tuple[int | None, Callable[[], Any]],
    ) -> Any:
        """Return the result of unhurried work on a version, each try wholly against one."""
        version, work = begun
        uri = _document(params)
        for restarts in count(1):
            await asyncio.sleep(PAUSE)
            self._admit(request, method, params)
            if self._version(uri) != version and self._may_be_stale(method):
                raise _stale(method)
            try:
                with cancel_when(partial(self._waits, uri, restarts)):
                    return work()
            except WorkCancelled:
                continue
        return None

    def _answer(self, request: int | str, method: str, params: Any, result: Any) -> None:
        try:
            self.session.server.protocol.answer(request, result)
        except Exception as error:
            self._refuse(request, method, params, error)

    def _refuse(self, request: int | str, method: str, params: Any, error: BaseException) -> None:
        if not isinstance(error, RefusedError):
            error = fault(self.session, method, params, error)
        self.session.server.protocol.refuse(request, error)

    def _admit(self, request: int | str, method: str, params: Any) -> None:
        """Raise RefusedError where a request is not to be handled, or not any more."""
        stage = self.session.stage
        if stage == "new" and method != "initialize":
            sentence = "The first request must be 'initialize'."
            raise RefusedError(lsp.ErrorCodes.ServerNotInitialized, sentence)
        if stage != "new" and method == "initialize":
            raise RefusedError(lsp.ErrorCodes.InvalidRequest, "'initialize' was already answered.")
        if stage == "ending":
            raise RefusedError(lsp.ErrorCodes.InvalidRequest, "The server is shut down.")
        if method not in REQUESTS:
            raise RefusedError(
                lsp.ErrorCodes.MethodNotFound, f"There is no method {shown(method)}."
            )
        if self.inbox.is_cancelled(request):
            raise RefusedError(lsp.LSPErrorCodes.RequestCancelled, "The request was cancelled.")
        if self._is_stale(method, params):
            raise _stale(method)

    def _is_stale(self, method: str, params: Any) -> bool:
        """Return whether the answer is stale, as a change of the text waits already."""
        return self._may_be_stale(method) and self.inbox.expects_change(_document(params))

    def _may_be_stale(self, method: str) -> bool:
        """Return whether a client takes it that an answer about an old text is left out."""
        return method == PULL or (method in WHOLE and method in self.session.client.retries)

    def _answer_later(
        self, request: int | str, method: str, params: Any, done: asyncio.Future[Any]
    ) -> None:
        """Answer a request whose work ran beside the others."""
        # The client may have used the id again in the meantime.
        if self._running.get(request) is done:
            del self._running[request]
        error = None if done.cancelled() else done.exception()
        if done.cancelled():
            sentence = "The request was cancelled."
            error = RefusedError(lsp.LSPErrorCodes.RequestCancelled, sentence)
        if error is None:
            self._answer(request, method, params, done.result())
        else:
            self._refuse(request, method, params, error)

    def _handler(self, method: str, place: str) -> tuple[Handler, type | None, Check]:
        """Return a method's function, its type of parameters (None: plain JSON), their check."""
        if method not in self._handlers:
            module, _, name = place.partition(":")
            handler = getattr(import_module(f"netsharp_lsp.server.{module}"), name)
            types = lsp.METHOD_TO_TYPES.get(method)
            kind: Any = None if types is None or method in PLAIN else types[2]
            check = anything if kind is None else check_of(kind)
            self._handlers[method] = (handler, kind, CHECKS.get(method, check))
        return self._handlers[method]

    def _read(self, params: Any, kind: type | None, check: Check) -> Any:
        """Parameters as the handler takes them; none at all stand for an empty object."""
        given = {} if params is None else params
        demand(check, given)
        if kind is None:
            return given
        try:
            return self.session.server.protocol.structure(given, kind)
        except Exception as error:
            sentence = f"The parameters are not {kind.__name__}: {error}."
            raise RefusedError(lsp.ErrorCodes.InvalidParams, sentence) from None

    async def _rest(self) -> None:
        """Use the time in which nothing waits: diagnostics first, then one chore at a time."""
        while not self.inbox and (self._publish() or self._do_chore()):
            await asyncio.sleep(0)

    def _publish(self) -> bool:
        """Send the diagnostics of one document; whether there was one.

        They give way to messages that come, and are begun again when none waits any more.
        """
        session = self.session
        if not session.unpublished:
            return False
        uri = next(iter(session.unpublished))
        del session.unpublished[uri]
        version = (uri, self._version(uri))
        try:
            with cancel_when(lambda: self._waits(uri, self._restarts[version])):
                self._publish_of(uri)
            self._restarts.clear()
        except WorkCancelled:
            self._restarts[version] += 1
            session.unpublished[uri] = None
        except Exception as error:
            fault(session, "textDocument/publishDiagnostics", {"textDocument": {"uri": uri}}, error)
        return True

    def _waits(self, uri: str, restarts: int) -> bool:
        """Return whether low-priority work on a document is to be cancelled: after some restarts
        only by what makes it stale, since a busy client needs it, too.
        """
        return bool(self.inbox) and (restarts < RESTARTS or self.inbox.expects_change(uri))

    def _version(self, uri: str) -> int | None:
        document = self.session.documents.get(uri)
        return None if document is None else document.version

    def _publish_of(self, uri: str) -> None:
        """Send a document's diagnostics to a client that does not ask for them."""
        from netsharp_lsp.server.answers.publishing import publish

        if not self.session.client.pulls:
            publish(self.session, uri)

    def _do_chore(self) -> bool:
        """Do one of the tasks after the start, and return whether there was one."""
        if self.session.stage != "ready":
            return False
        if self._chores is None:
            self._chores = chores(self.session)
        try:
            chore = next(self._chores, None)
            if chore is not None:
                chore()
        except Exception as error:
            fault(self.session, "warming up", None, error)
            return False
        return chore is not None

    @staticmethod
    def _is_exit(message: Message | MalformedError) -> bool:
        return isinstance(message, dict) and message.get("method") == "exit" and "id" not in message


def _document(params: Any) -> str:
    """Return the URI of the document that parameters are about; empty where they name none."""
    identity = params.get("textDocument") if isinstance(params, dict) else None
    uri = identity.get("uri") if isinstance(identity, dict) else None
    return uri if isinstance(uri, str) else ""


def _stale(method: str) -> RefusedError:
    """Return the error that replaces a response about an outdated text."""
    sentence = "The text has changed since."
    if method == PULL:
        again = {"retriggerRequest": True}
        return RefusedError(lsp.LSPErrorCodes.ServerCancelled, sentence, again)
    return RefusedError(lsp.LSPErrorCodes.ContentModified, sentence)
