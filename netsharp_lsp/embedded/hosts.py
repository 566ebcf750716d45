"""Which files are hosts, by their names; imports nothing, so that any command may use it."""

from __future__ import annotations

#: The language id that editors use for a host, by suffix in lower case.
HOSTS = {
    ".py": "python",
    ".pyw": "python",
    ".pyi": "python",
    ".r": "r",
    ".md": "markdown",
    ".markdown": "markdown",
    ".rmd": "rmd",
    ".qmd": "quarto",
    ".ipynb": "ipynb",
    ".sql": "sql",
    ".tsql": "sql",
}
#: Other ids that editors use for a host.
ALIASES = {"tsql": "sql", "mssql": "sql"}
#: Between a host's name and that of one specification in it.
SEPARATOR = "::"


def host_of(path: str) -> str | None:
    """Return the language id of a host file by its name, None where it is not a host."""
    dot = path.rfind(".")
    return HOSTS.get(path[dot:].lower()) if dot >= 0 else None
