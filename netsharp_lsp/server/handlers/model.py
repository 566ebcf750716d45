"""netsharp/model and netsharp/modelWeights: a model file as a picture, tables, histograms."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lsprotocol import types as lsp

from netsharp_lsp.server.pictures.stored import UnreadableModelError
from netsharp_lsp.server.surroundings.workspace_files import path_of
from netsharp_lsp.server.transport.protocol import RefusedError

if TYPE_CHECKING:
    from netsharp_lsp.server.session import Session

Plain = dict[str, Any]


async def model(session: Session, params: Plain) -> Plain:
    """Return the network of a model file with its picture; `folds` are groups to open or close."""
    changed = {str(key): opened is True for key, opened in params.get("folds", {}).items()}
    path = _path(session, params["uri"])
    try:
        found = await session.models.of(path, params.get("depth"), changed)
    except UnreadableModelError as error:
        raise RefusedError(lsp.LSPErrorCodes.RequestFailed, str(error)) from None
    return {**found, "version": None, "uri": params["uri"]}


async def model_weights(session: Session, params: Plain) -> Plain:
    """Return histograms of some parameters, from the place `first` on; `next` is where to go on."""
    path = _path(session, params["uri"])
    try:
        return await session.models.weights(path, params.get("first") or 0)
    except UnreadableModelError as error:
        raise RefusedError(lsp.LSPErrorCodes.RequestFailed, str(error)) from None


def _path(session: Session, uri: str) -> str:
    """Return the file that the user opens; refuse others, and any in an untrusted workspace."""
    path = path_of(uri)
    if path is None:
        raise RefusedError(lsp.LSPErrorCodes.RequestFailed, f"{uri} is not a file on this machine.")
    if not session.trusted:
        sentence = f"{path}: no model is read in a workspace that is not trusted."
        raise RefusedError(lsp.LSPErrorCodes.RequestFailed, sentence)
    return path
