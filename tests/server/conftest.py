"""Clients of pytest-lsp beside the real process: one server for the tests of a module."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest_lsp
from lsprotocol import types as lsp
from pytest_lsp import ClientServerConfig, LanguageClient, client_capabilities
from pytest_lsp.client import make_test_lsp_client

from tests.server.wire import COMMAND

#: What servers ask of clients that can it, and pytest-lsp leaves to the test.
ASKED = (
    "client/registerCapability",
    "client/unregisterCapability",
    "workspace/codeLens/refresh",
    "workspace/inlayHint/refresh",
    "workspace/semanticTokens/refresh",
)


def make_client() -> LanguageClient:
    """A client that agrees to all that it is asked."""
    client = make_test_lsp_client()
    for method in ASKED:
        client.feature(method)(lambda params: None)
    return client


CONFIG = ClientServerConfig(server_command=COMMAND, client_factory=make_client)


@pytest_lsp.fixture(config=CONFIG, scope="module")
async def editor(lsp_client: LanguageClient) -> AsyncIterator[None]:
    """A client that can what VS Code can."""
    capabilities = client_capabilities("visual-studio-code")
    await lsp_client.initialize_session(lsp.InitializeParams(capabilities=capabilities))
    yield
    await lsp_client.shutdown_session()


@pytest_lsp.fixture(config=CONFIG, scope="module")
async def simple_editor(lsp_client: LanguageClient) -> AsyncIterator[None]:
    """A client that announces nothing at all."""
    await lsp_client.initialize_session(lsp.InitializeParams(capabilities=lsp.ClientCapabilities()))
    yield
    await lsp_client.shutdown_session()
