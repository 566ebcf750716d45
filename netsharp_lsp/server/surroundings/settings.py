"""The settings for each document: the editor's of its folder over those of files on disk.

Reads settings files, each once until files change; knows no request.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from netsharp_lsp.diagnostics.baseline import Baseline
from netsharp_lsp.language import known_codes
from netsharp_lsp.project.baselines import load_baseline, name_in_baseline
from netsharp_lsp.project.folders import validate_settings
from netsharp_lsp.project.surroundings import state_of
from netsharp_lsp.server.surroundings.preferences import Preferences, read_preferences
from netsharp_lsp.server.surroundings.workspace_files import folder_of, path_of, uri_of
from netsharp_lsp.settings import Settings, SettingsError, SettingsFinder
from netsharp_lsp.workspace import outside

if TYPE_CHECKING:
    from netsharp_lsp.diagnostics.selection import Selection
    from netsharp_lsp.project.surroundings import State
    from netsharp_lsp.server.client.complaints import Complaints
    from netsharp_lsp.server.client.connection import Connection
    from netsharp_lsp.server.documents.views import OpenDocument
    from netsharp_lsp.server.surroundings.preferences import InForce
    from netsharp_lsp.server.surroundings.roots import SessionRoots

#: Key of the settings of all folders that have none of their own.
EVERYWHERE = ""


class SettingsInForce:
    """The settings of a session; what cannot be used becomes one warning, shown once."""

    def __init__(self, connection: Connection, complaints: Complaints, roots: SessionRoots) -> None:
        self._connection = connection
        self._complaints = complaints
        self.roots = roots
        self._preferences: dict[str, Preferences] = {}
        self._finder = self._new_finder()
        self._in_force: dict[tuple[str, str | None], InForce] = {}
        self._selections: dict[str, Selection] = {}
        self._baselines: dict[str, tuple[State, Baseline]] = {}

    def take(self, folder: str, values: object) -> None:
        """Store the editor's settings for a folder of the workspace, by its URI."""
        read, problems = read_preferences(values, path_of(folder) or "")
        self._preferences[folder] = read
        self._complaints.add(problems)
        self.forget()
        if folder == EVERYWHERE:
            self.roots.added = read.roots
        self.roots.renew()

    def drop(self, folder: str) -> None:
        """Discard the editor's settings for a folder that it closes."""
        if folder != EVERYWHERE:
            self._preferences.pop(folder, None)
            self.forget()

    def forget(self) -> None:
        """Read settings files again when they are next needed."""
        self._finder = self._new_finder()
        self._in_force.clear()
        self._selections.clear()

    def preferences_of(self, uri: str) -> Preferences:
        """Return the editor's preferences for a document."""
        folder = folder_of(self._connection.folders, uri)
        found = self._preferences.get(folder) or self._preferences.get(EVERYWHERE)
        return found if found is not None else Preferences()

    def of(self, uri: str) -> InForce:
        """Return the settings that hold for a document."""
        path = path_of(uri)
        folder = None if path is None else os.path.dirname(path)
        key = (folder_of(self._connection.folders, uri), folder)
        if key not in self._in_force:
            file = Settings() if folder is None else self._read(folder)
            self._in_force[key] = self.preferences_of(uri).over(file)
        return self._in_force[key]

    def excludes(self, path: str) -> bool:
        """Return whether settings exclude a file or folder, by its absolute path."""
        return self.of(uri_of(path)).excludes(path)

    def selection_of(self, uri: str) -> Selection:
        """Return which diagnostics a document shows; the same object until something changes."""
        if uri not in self._selections:
            self._selections[uri] = self.of(uri).selection(path_of(uri))
        return self._selections[uri]

    def accepted(self, document: OpenDocument) -> tuple[Baseline, str] | None:
        """Return the baseline in force for a document, and how it calls that; None without one.

        In an untrusted workspace settings open no files, and elsewhere none outside.
        """
        path, settings = path_of(document.uri), self.of(document.uri)
        baseline = settings.baseline
        if path is None or baseline is None or not self._connection.trusted:
            return None
        if self.roots.named_by(settings.baseline_settings, baseline) is None:
            self._complaints.add([f"The baseline {outside(baseline)}"])
            return None
        return self._baseline(baseline), name_in_baseline(baseline, path)

    def _baseline(self, path: str) -> Baseline:
        """Return a baseline as it is on disk now; one that cannot be read knows nothing."""
        state = state_of(path)
        if path not in self._baselines or self._baselines[path][0] != state:
            read = load_baseline(path)
            if isinstance(read, str):
                self._complaints.add([read])
                read = Baseline()
            self._baselines[path] = (state, read)
        return self._baselines[path][1]

    def _new_finder(self) -> SettingsFinder:
        return SettingsFinder(
            self.roots.leads_out, lambda sentence: self._complaints.add([sentence])
        )

    def _read(self, folder: str) -> Settings:
        try:
            found = self._finder.find(folder)
            validate_settings(found, known_codes)
        except SettingsError as error:
            self._complaints.add([f"{error} These settings are not used."])
            return Settings()
        return found
