"""Starts the server on standard input and output or on one TCP connection, and ends it.

Nothing but the protocol may reach standard output, so whatever else is printed goes to standard
error.
"""

from __future__ import annotations

import asyncio
import os
import socket
import sys
import threading
from contextlib import suppress
from typing import BinaryIO, cast

from netsharp_lsp.server.session import Session
from netsharp_lsp.server.transport.frames import Inbox, LostError
from netsharp_lsp.server.transport.outbox import Outbox
from netsharp_lsp.server.transport.protocol import Server
from netsharp_lsp.server.turns.dispatch import UNCLEAN, Dispatcher
from netsharp_lsp.server.turns.guard import stray

#: Seconds between two checks of the process that the client named as its own.
PARENT_EVERY = 2.0


def serve_stdio() -> int:
    """Serve the process that started this one; returns the exit code."""
    source = os.fdopen(os.dup(0), "rb")
    sink = cast("BinaryIO", os.fdopen(os.dup(1), "wb", buffering=0))
    os.dup2(2, 1)
    if os.name != "nt":
        # The parent may share the pipes without waiting for them itself.
        os.set_blocking(source.fileno(), True)
        os.set_blocking(sink.fileno(), True)
    if source.isatty():
        print("netsharp: an editor speaks here; end with Ctrl-D.", file=sys.stderr, flush=True)
    return asyncio.run(_serve(source, sink))


def serve_tcp(host: str, port: int) -> int:
    """Serve the first who connects, and end with that connection; returns the exit code."""
    with socket.create_server((host, port)) as listener:
        name, number = listener.getsockname()[:2]
        print(f"netsharp: listens on {name}:{number}.", file=sys.stderr, flush=True)
        connection, _ = listener.accept()
    with connection:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return asyncio.run(_serve(connection.makefile("rb"), _raw(connection)))


def _raw(connection: socket.socket) -> BinaryIO:
    """Return a connection as a stream without a buffer."""
    return cast("BinaryIO", connection.makefile("wb", buffering=0))


async def _serve(source: BinaryIO, sink: BinaryIO) -> int:
    server, outbox = Server(), Outbox(sink)
    server.protocol.outbox = outbox
    loop = asyncio.get_running_loop()
    inbox = Inbox(loop)
    session = Session(server, inbox)
    loop.set_exception_handler(lambda _, context: stray(session, context))
    threading.Thread(target=inbox.read, args=(source,), daemon=True).start()
    watch = asyncio.create_task(_watch_parent(session))
    try:
        return await Dispatcher(session, inbox).run(outbox)
    except LostError as lost:
        with suppress(OSError, ValueError):
            print(f"netsharp: {lost}", file=sys.stderr, flush=True)
        return UNCLEAN
    finally:
        watch.cancel()
        session.close()
        outbox.flush()


async def _watch_parent(session: Session) -> None:
    """End when the process ends that started the editor's side: a pipe it left may stay open.

    Asking for a process by signal 0 would end it on Windows; there the closed pipe must do.
    """
    while os.name != "nt":
        await asyncio.sleep(PARENT_EVERY)
        if session.parent is not None and not _is_alive(session.parent):
            session.inbox.end()


def _is_alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except OSError:
        pass  # It exists, but belongs to another user.
    return True
