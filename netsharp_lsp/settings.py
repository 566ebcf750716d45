"""Settings of a project: netsharp.toml or [tool.netsharp] in pyproject.toml, nearest first.

Knows the keys and what their values may be, but not what any command does with them.
"""

from __future__ import annotations

import os

from netsharp_engine.plain_files import may_be_file, read_plain
from netsharp_lsp.context import HOSTS, TASKS, Context, is_count, read_target
from netsharp_lsp.diagnostics.model import SEVERITIES
from netsharp_lsp.diagnostics.nearest import suggestion
from netsharp_lsp.family_settings import READERS
from netsharp_lsp.globs import Glob
from netsharp_lsp.limits import KEY_PARTS, SETTINGS_BYTES
from netsharp_lsp.text.numbers import MOST_DIGITS
from netsharp_lsp.workspace import outside

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

OWN_FILE = "netsharp.toml"
SHARED_FILE = "pyproject.toml"
#: The key that only a user may set: further folders that files from others may name files in.
ROOTS = "roots"
#: Makes commas of all that keys and values stand between.
_PARTED = bytes.maketrans(b"\r\n{}[]=", b",,,,,,,")
LINE_ENDINGS = ("auto", "lf", "crlf", "cr")


class SettingsError(Exception):
    """Settings that cannot be used: in which file, on which line (None where unknown), and why."""

    def __init__(self, file: str, line: int | None, message: str) -> None:
        place = file if line is None else f"{file}:{line}"
        super().__init__(f"{place}: {message}")
        self.file = file
        self.line = line
        self.message = message


class Settings:
    """The settings in force for the files of one folder; what no file sets has its default.

    `file` is where they were read (None for defaults) and `directory` the folder to which patterns
    and `baseline` are relative: that of the file, unless another is given. `line_ending` is one
    of `LINE_ENDINGS`, "auto" for the majority of each file. `context` holds features, hidden
    nodes, outputs, task and host. `of_families` is what families of languages read of their keys.
    """

    __slots__ = (
        "baseline",
        "context",
        "directory",
        "exclude",
        "fail_on",
        "file",
        "ignore",
        "line_ending",
        "of_families",
        "per_file_ignores",
        "select",
    )

    def __init__(self, file: str | None = None, directory: str = "") -> None:
        self.file = file
        self.directory = directory or (os.path.dirname(file) if file is not None else "")
        self.select: tuple[str, ...] = ()
        self.ignore: tuple[str, ...] = ()
        self.per_file_ignores: tuple[tuple[Glob, tuple[str, ...]], ...] = ()
        self.exclude: tuple[Glob, ...] = ()
        self.fail_on: str | None = None
        self.baseline: str | None = None
        self.line_ending = "auto"
        self.context = Context()
        self.of_families: dict[str, object] = {}

    def ignores_for(self, path: str) -> tuple[str, ...]:
        """Return the codes that `per-file-ignores` ignores in a file, by its absolute path."""
        relative = self._relative(path)
        matching = (codes for glob, codes in self.per_file_ignores if glob.matches(relative))
        return tuple(code for codes in matching for code in codes)

    def excludes(self, path: str) -> bool:
        """Return whether `exclude` names a file or folder, by its absolute path."""
        if not self.exclude:
            return False
        relative = self._relative(path)
        return any(glob.matches(relative) for glob in self.exclude)

    def _relative(self, path: str) -> str:
        return os.path.relpath(path, self.directory or None).replace(os.sep, "/")


class SettingsFinder:
    """Finds and reads the settings of folders, each file once; `find` may raise SettingsError.

    A file that `leads_out` of the folders that may be read is skipped, with a call of `report`.
    """

    __slots__ = ("_known", "_leads_out", "_report")

    def __init__(
        self,
        leads_out: Callable[[str], bool] = lambda file: False,
        report: Callable[[str], object] = lambda sentence: None,
    ) -> None:
        self._leads_out = leads_out
        self._report = report
        self._known: dict[str, Settings] = {}

    def find(self, directory: str) -> Settings:
        """Return the settings for files in a folder, given by its absolute path."""
        known = self._known.get(directory)
        if known is None:
            known = self._find(directory)
            self._known[directory] = known
        return known

    def _find(self, directory: str) -> Settings:
        own = os.path.join(directory, OWN_FILE)
        if may_be_file(own):
            return Settings() if self._is_outside(own) else read_settings(own)
        shared = os.path.join(directory, SHARED_FILE)
        if may_be_file(shared) and not self._is_outside(shared):
            found = _read_shared(shared)
            if found is not None:
                return found
        parent = os.path.dirname(directory)
        return self.find(parent) if parent != directory else Settings()

    def _is_outside(self, file: str) -> bool:
        if not self._leads_out(file):
            return False
        self._report(f"{file}: is a link, and {outside(os.path.realpath(file))} It is not read.")
        return True


def read_settings(file: str) -> Settings:
    """Read a settings file, of either name; SettingsError where it cannot be used."""
    if os.path.basename(file) == SHARED_FILE:
        return _read_shared(file) or Settings(file)
    data = _read_bytes(file)
    return _validated(file, data, _parse(file, data))


def read_own_roots(file: str) -> tuple[str, ...]:
    """Return the folders in the user's own settings, the one key that they may have."""
    data = _read_bytes(file)
    folders: tuple[str, ...] = ()
    for key, value in _parse(file, data).items():
        if key != ROOTS:
            problem = (
                f"unknown key '{key}'.{suggestion(key, (ROOTS,))} The only key here is '{ROOTS}'."
            )
            raise SettingsError(file, _line_of(data, key), problem)
        try:
            folders = as_roots(value)
        except ValueError as error:
            raise SettingsError(file, _line_of(data, key), f"'{ROOTS}' {error}") from None
    return folders


def as_roots(value: object) -> tuple[str, ...]:
    """Return folders as settings name them; ValueError, a sentence without the key, otherwise."""
    folders = tuple(map(os.path.expanduser, as_texts(value)))
    for folder in folders:
        if not os.path.isabs(folder):
            raise ValueError(f"must hold whole paths, found {folder!r}.")
    return folders


def _read_shared(file: str) -> Settings | None:
    """Return the settings in a pyproject.toml, None where it has no [tool.netsharp]."""
    data = _read_bytes(file)
    if b"netsharp" not in data:
        return None
    tool = _parse(file, data).get("tool")
    table = tool.get("netsharp") if isinstance(tool, dict) else None
    return _validated(file, data, table) if isinstance(table, dict) else None


def read_toml(file: str, place: str | None = None, *, follow: bool = True) -> dict[str, Any]:
    """Return the tables of a file at `place`, bounded as settings are; raises SettingsError."""
    return _parse(file, _read_bytes(file, place, follow=follow))


def _read_bytes(file: str, place: str | None = None, *, follow: bool = True) -> bytes:
    try:
        place = file if place is None else place
        data = read_plain(place, SETTINGS_BYTES.most + 1, follow=follow)
    except OSError as error:
        raise SettingsError(file, None, f"cannot be read: {error.strerror}.") from None
    if len(data) > SETTINGS_BYTES.most:
        raise SettingsError(file, None, f"is larger than {SETTINGS_BYTES}.")
    return data


def _parse(file: str, data: bytes) -> dict[str, Any]:
    import tomllib

    if any(part.count(b".") > KEY_PARTS.most for part in data.translate(_PARTED).split(b",")):
        raise SettingsError(file, None, f"has a key or value with more than {KEY_PARTS}.")
    try:
        return tomllib.loads(data.decode("utf-8"))
    except (ValueError, RecursionError) as error:
        raise SettingsError(file, None, f"is not valid TOML: {error}.") from None


def _validated(file: str, data: bytes, table: dict[str, Any]) -> Settings:
    settings = Settings(file)
    for key, value in table.items():
        problem = assign(settings, key, value)
        if problem is not None:
            raise SettingsError(file, _line_within(data, key, _wrong_part(key, value)), problem)
    return settings


def _wrong_part(key: str, value: object) -> str | None:
    """Return the key of a table that is wrong by itself; None where the whole is."""
    parts = value.items() if isinstance(value, dict) else ()
    wrong = (part for part, one in parts if assign(Settings(), key, {part: one}) is not None)
    return next(wrong, None) if key in known_keys() else None


def assign(settings: Settings, key: str, value: object) -> str | None:
    """Store the value of a key. Return a sentence where it is invalid."""
    if key == ROOTS:
        return (
            f"'{ROOTS}' says where the files of a folder may lead, so none of them can set it: "
            "set it in your own settings, or with --root."
        )
    if key not in known_keys():
        return f"unknown key '{key}'.{suggestion(key, known_keys())}"
    try:
        if key in _KEYS:
            _KEYS[key](settings, value)
        else:
            settings.of_families[key] = READERS[key](value)
    except ValueError as error:
        return f"'{key}' {error}"
    return None


def _line_of(data: bytes, key: str) -> int | None:
    """Return the line on which a key is written, None where it is written in an unusual way."""
    wanted = key.encode("utf-8")
    for number, line in enumerate(data.splitlines(), 1):
        bare = line.strip()
        if bare.strip(b"[\"' ").startswith(wanted):
            return number
        # A table may be within that of a file for several tools.
        if bare.startswith(b"[") and wanted in bare.strip(b"[] ").split(b"."):
            return number
    return None


def _line_within(data: bytes, key: str, part: str | None) -> int | None:
    """Return the line of a key within a table, or that of the table where the key is not found."""
    if part is not None:
        inside = False
        for number, line in enumerate(data.splitlines(), 1):
            bare = line.strip()
            if bare.startswith(b"["):
                inside = key.encode("utf-8") in _names(bare.strip(b"[").partition(b"]")[0])
                continue
            names = _names(bare.partition(b"=")[0])
            if names == [key.encode("utf-8"), part.encode("utf-8")] or (
                inside and names == [part.encode("utf-8")]
            ):
                return number
    return _line_of(data, key)


def _names(written: bytes) -> list[bytes]:
    """Return the names of a dotted key; one in quotes may have dots itself."""
    bare = written.strip()
    if bare[:1] in (b'"', b"'") and bare[-1:] == bare[:1]:
        return [bare[1:-1]]
    return [one.strip(b" \t\"'") for one in bare.split(b".")]


def _as_text(value: object) -> str:
    if not isinstance(value, str) or not value:
        raise ValueError(f"must be text, found {shown(value)}.")
    return value


def as_texts(value: object) -> tuple[str, ...]:
    """Return a list of texts; ValueError, a sentence without the key, where it is none."""
    if not isinstance(value, list) or not all(isinstance(item, str) and item for item in value):
        raise ValueError(f"must be a list of texts, found {shown(value)}.")
    return tuple(value)


def _one_of(value: object, allowed: tuple[str, ...]) -> str:
    if not isinstance(value, str) or value not in allowed:
        raise ValueError(f"must be one of {', '.join(allowed)}; found {shown(value)}.")
    return value


def _count(value: object) -> int:
    if not isinstance(value, int) or not is_count(value):
        most = f" and at most {MOST_DIGITS} digits" if _is_large(value) else ""
        raise ValueError(f"must be a whole number of at least 1{most}, found {shown(value)}.")
    return value


def _is_large(value: object) -> bool:
    return isinstance(value, int) and value > 1


def shown(value: object) -> str:
    """Return a value as Python writes it; a hexadecimal number may be too long for that."""
    try:
        return repr(value)
    except ValueError:
        return "a longer one"


def _globs(value: object) -> tuple[Glob, ...]:
    return tuple(map(Glob, as_texts(value)))


def _per_file(value: object) -> tuple[tuple[Glob, tuple[str, ...]], ...]:
    if not isinstance(value, dict):
        raise ValueError(f"must be a table of patterns and lists of codes, found {shown(value)}.")
    return tuple((Glob(pattern), as_texts(codes)) for pattern, codes in value.items())


def _setter(name: str, read: Callable[[Any], object]) -> Callable[[Settings, object], None]:
    return lambda settings, value: setattr(settings, name, read(value))


def _context_setter(name: str, read: Callable[[Any], object]) -> Callable[[Settings, object], None]:
    def store(settings: Settings, value: object) -> None:
        setattr(settings.context, name, read(value))
        settings.context.origin[name] = os.path.basename(settings.file or OWN_FILE)

    return store


#: Every key of ours and how its value is checked and stored.
_KEYS: dict[str, Callable[[Settings, object], None]] = {
    "select": _setter("select", as_texts),
    "ignore": _setter("ignore", as_texts),
    "per-file-ignores": _setter("per_file_ignores", _per_file),
    "exclude": _setter("exclude", _globs),
    "fail-on": _setter("fail_on", lambda value: _one_of(value, SEVERITIES)),
    "baseline": _setter("baseline", _as_text),
    "line-ending": _setter("line_ending", lambda value: _one_of(value, LINE_ENDINGS)),
    "host": _context_setter("host", lambda value: _one_of(value, HOSTS)),
    "task": _context_setter("task", lambda value: _one_of(value, TASKS)),
    "features": _context_setter("features", _count),
    "hidden-nodes": _context_setter("hidden_nodes", _count),
    "outputs": _context_setter("outputs", _count),
    "target": _context_setter("target", read_target),
}


def known_keys() -> tuple[str, ...]:
    """Return every key, those of families of languages after ours."""
    return (*_KEYS, *READERS)
