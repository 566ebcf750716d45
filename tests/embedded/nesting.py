"""Strings within strings at random, written by other code than that which reads them."""

from __future__ import annotations

import json
import random


def r_string(text: str, chance: random.Random) -> str:
    """Return a string of R that says a text."""
    quote = chance.choice("'\"")
    if chance.random() < 0.3 and ")--" not in text:
        return f"r{quote}--({text})--{quote}"
    written = text.replace("\\", "\\\\").replace(quote, "\\" + quote)
    return quote + (written.replace("\n", "\\n") if chance.random() < 0.3 else written) + quote


def python_string(text: str, chance: random.Random) -> str:
    """Return a string of Python that says a text."""
    quote = chance.choice(("'", '"', "'''", '"""'))
    written = text.replace("\\", "\\\\").replace(quote[0], "\\" + quote[0])
    return quote + (written if len(quote) == 3 else written.replace("\n", "\\n")) + quote


def sql_string(text: str, chance: random.Random) -> str:
    """Return a string of T-SQL that says a text, or several that are put together."""
    quoted = "N'" + text.replace("'", "''").replace("\\\n", "\\\\\n\n") + "'"
    at = chance.randrange(len(text)) if text else 0
    if chance.random() < 0.3 and "'" not in text and "\\" not in text:
        line = "input"
        before = text.rfind(line, 0, at)
        if before > 0:
            return f"CONCAT(N'{text[:before]}', N'', N'{text[before:]}')"
    return quoted


def nested(net: str, chance: random.Random) -> str:
    """A T-SQL text that holds a specification in a script, perhaps in another T-SQL text."""
    if chance.random() < 0.5:
        language, script = "R", f"x <- 'it''s' # it's\nf(netDefinition = {r_string(net, chance)})"
    else:
        language, script = "Python", f"# it's\nf(net_definition={python_string(net, chance)})"
    text = script
    for _ in range(chance.randrange(1, 4)):
        written = sql_string(text, chance)
        text = f"/* it's */ EXEC sp_execute_external_script @language = N'{language}', @script = "
        text += f"{written};\n"
        if chance.random() < 0.5:
            text = f"DECLARE @s nvarchar(max) = {written}; -- it's\n{text[: -len(written) - 2]} @s;"
        language = "unknown"
    return text


def hosted(net: str, chance: random.Random) -> tuple[str, str]:
    """Return the name of a host and its text, which holds a specification at some depth."""
    text = nested(net, chance)
    how = chance.randrange(4)
    if how == 0:
        fence = "```" if "```" not in text else "~~~~"
        return "a.Rmd", f"It's a report.\n\n{fence}{{sql}}\n{text}\n{fence}\n"
    if how == 1:
        source: object = f"%%sql\n{text}"
        if chance.random() < 0.5:
            source = f"%%sql\n{text}".splitlines(keepends=True)
        cell = {"cell_type": "code", "metadata": {}, "outputs": [], "source": source}
        cells = {"cells": [cell], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
        return "a.ipynb", json.dumps(cells, indent=chance.choice((None, 1)))
    return "a.sql", text
