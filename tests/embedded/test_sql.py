"""T-SQL as a host: which strings hold scripts, in which language, and how layers nest."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from netsharp_lsp.__main__ import main
from netsharp_lsp.cli.inputs.embedded import format_host, nothing_in
from netsharp_lsp.cli.inputs.files import Input
from netsharp_lsp.embedded.finding import find_regions, unknown_lines
from netsharp_lsp.embedded.regions import Region
from netsharp_lsp.embedded.sql.strings import SqlForm
from netsharp_lsp.layout.options import FormatOptions
from tests.costs import assert_in_proportion, assert_measured, spent
from tests.embedded.nesting import nested

R = "f(netDefinition = ''input X [3];'')"
PYTHON = "f(net_definition=''input X [3];'')"


def sql(text: str) -> list[Region]:
    found = find_regions("sql", text.encode())
    assert isinstance(found, list), found
    return found


FORMS = {
    "a variable that is set": f"SET @cmd = N'{R}'",
    "a variable that is declared": f"declare @script as nvarchar(max) = N'{R}'",
    "one of several": f"DECLARE @a int = 3, @b nvarchar(10) = N'x', @s varchar(max)='{R}'",
    "a selected variable": f"SELECT @cmd = '{R}', @other = 3",
    "an argument": f"EXEC sp_execute_external_script @language = N'R', @script = N'{R}'",
    "by place": f"exec sys.sp_execute_external_script N'R', N'{R}'",
    "a name in brackets": f"EXEC [sp_execute_external_script] @language=N'R',@script=N'{R}'",
    "a call in brackets": f"EXEC sp_executesql N'EXEC sp_execute_external_script N''R'', "
    f"N''{R.replace(chr(39), chr(39) * 2)}'''",
    "concat": f"SET @c = CONCAT(N'x <- ', @t, CHAR(10), N'{R}')",
    "a sum": f"SET @c = @head + N'x <- ' + QUOTENAME(@t, '''') + N'\n' + N'{R}' + @tail",
    "a cast": f"SET @c = CAST(N'{R}' AS nvarchar(max)) + @more",
    "a conversion": f"SET @c = CONVERT(nvarchar(max), N'{R}') + @more",
    "in brackets": f"SET @c = (N'{R}')",
    "a replaced text": f"SET @c = REPLACE(N'x = @y; {R}', '@y', @y)",
    "a table's column": f"INSERT INTO scripts (name, body) VALUES (N'a', N'{R}')",
    "behind a comment": f"-- it's /* not\nSET @a = /* it's /* nested */ it's */ N'{R}'",
    "behind an identifier": f"SELECT [it's], \"it's\"; SET @a = N'{R}'",
    "joined lines": f"SET @a = N'{R.replace('Definition', 'Defi' + chr(92) + chr(10) + 'nition')}'",
    "Python by its language": "EXEC sp_execute_external_script @language = 'python', "
    f"@script = N'x = 3\n{PYTHON}'",
    "Python by its look": f"SET @c = N'import microsoftml\n{PYTHON}'",
    "double quotes": "SET ANSI_NULLS, QUOTED_IDENTIFIER OFF\nGO\n"
    'SET @c = "f(netDefinition = ""input X [3];"")"',
}


@pytest.mark.parametrize("form", FORMS)
def test_forms_that_occur(form: str) -> None:
    (region,) = sql(FORMS[form])
    assert region.text == b"input X [3];"
    start, end = region.outer_span(0, len(region.text))
    assert FORMS[form].encode()[start:end] == b"input X [3];"
    assert region.editable


NONE = {
    "a comment": f"/* SET @a = N'{R}' /* */ */ -- N'{R}'",
    "an identifier": "SELECT \"f(netDefinition = 'input X [3];')\"",
    "turned on again": "SET QUOTED_IDENTIFIER OFF; SET QUOTED_IDENTIFIER ON;"
    "SELECT \"f(netDefinition = 'input X [3];')\"",
    "a setting in a comment": "/* SET QUOTED_IDENTIFIER OFF */"
    "SELECT \"f(netDefinition = 'input X [3];')\"",
    "prose": "PRINT N'Give netDefinition a value.'",
    "another language": "EXEC sp_execute_external_script @language = N'Java', "
    "@script = N'netDefinition'",
    "an open string": f"SET @a = N'{R}",
    "an open comment": f"/* /* */ SET @a = N'{R}'",
    "an odd quote": f"SET @b = N'it's'; SET @a = N'{R}'",
    "an open string of R": "SET @a = N'f(netDefinition = ''input X [3];)'",
    "Net# of its own": "input X [3];\noutput Y [1] from X all;",
}


@pytest.mark.parametrize("case", NONE)
def test_where_nothing_is(case: str) -> None:
    assert sql(NONE[case]) == []


def test_what_is_put_together_at_run_time_is_reported_and_not_guessed() -> None:
    text = (
        b"SET @c = N'\nf(netDefinition = \"input X ' + @n + N'; output Y [1] from Z all;\")'\n"
        b"SET @d = CONCAT('f(netDefinition = \"', @net, '\")')"
    )
    assert find_regions("sql", text) == []
    assert unknown_lines("sql", text) == [2, 3]
    reported = nothing_in(Input("a.sql", None), text)
    assert reported.endswith("What is put together when the host runs is not read (line 2, 3).")
    reported = nothing_in(Input("a.sql", None), b"SELECT 1")
    assert reported == "a.sql: holds no Net# specification."


def test_a_text_in_several_strings_is_read_and_stays_as_it_is() -> None:
    text = "SET @c = N'f(netDefinition = \"input X [3]; out' + N'put Y [1]   from X all;\")'"
    (region,) = sql(text)
    assert region.text == b"input X [3]; output Y [1]   from X all;"
    assert region.reason == "it is put together from several strings"
    done = format_host(Input("a.sql", None), text.encode(), [region], FormatOptions())
    assert done.text == text.encode()


def test_languages_follow_the_call_that_runs_a_variable() -> None:
    text = f"""
        SET @c = N'{R}'; EXEC sp_execute_external_script @language = N'R', @script = @c;
        SET @c = N'{PYTHON}'; EXEC sp_execute_external_script N'Python', @c;
        SET @c = N'EXEC sp_execute_external_script N''R'', N''f(netDefinition = "input X [3];")''';
        EXEC (@c);
        SET @c = N'{R}'; EXEC sp_execute_external_script @script = @c, @language = N'R';
    """
    assert [region.text for region in sql(text)] == [b"input X [3];"] * 4


@pytest.mark.parametrize("number", range(4))
def test_nested_strings(number: int, seed: int) -> None:
    chance = random.Random(f"{seed} nested {number}")
    for _ in range(40):
        spaces = " " * chance.randrange(1, 4)
        comment = chance.choice(
            ("", " // it's", ' // "a" \\ b', "\\\n".join((" // x", "// y")), "é")
        )
        net = f"\ninput{spaces}X [3];{comment}\nhidden H [4]   sigmoid from X all;\n"
        net += "output Y [1] linear from H all;\n"
        if comment == "é":
            net = net.replace("é", " // é 😀")
        text = nested(net, chance).replace("\n", chance.choice(("\n", "\r\n")))
        data = text.encode()
        (region,) = sql(text)
        assert region.text.decode() == net
        outer = [region.outer(inner) for inner in range(len(region.text) + 1)]
        assert outer == sorted(outer)
        for inner, place in enumerate(outer):
            back = region.inner(place)
            assert back is not None
            assert region.outer(back) == place
            assert back <= inner
        once = format_host(Input("a.sql", None), data, [region], FormatOptions()).text
        (after,) = sql(once.decode())
        if region.editable:
            assert b"hidden H [4] sigmoid from X all;" in after.text
        assert once[: after.start] == data[: region.start]
        assert once[after.end :] == data[region.end :]


def test_every_text_can_be_written_in_a_string(seed: int) -> None:
    chance = random.Random(seed)
    for _ in range(500):
        text = "".join(chance.choices("'\"\\\nab", k=chance.randrange(12)))
        for quote in (b"'", b'"'):
            for line_end in (b"\n", b"\r\n"):
                form = SqlForm(quote, line_end)
                written = form.encode(text)
                assert written is not None
                assert form.decode(written.encode()) == text.encode()


STATEMENTS = (
    "INSERT INTO [dbo].[t] (a, b, [c d]) VALUES (1, 'abc''d', N'x y z', 3.5e3); -- it's why\n"
    '/* it\'s */ SELECT a, "b" FROM dbo.t WHERE x = 3 AND yyyy = zzzz;\nGO\n'
)


@pytest.mark.costly
def test_five_megabytes_within_a_second() -> None:
    script = f"EXEC sp_execute_external_script @language = N'R', @script = N'{R}';\n"
    data = (STATEMENTS * (5_000_000 // len(STATEMENTS)) + script).encode()
    assert len(find_regions("sql", data)) == 1
    assert_measured(lambda: spent(find_regions, "sql", data), lambda cost: cost < 1)


@pytest.mark.parametrize(
    "text",
    [
        "SET @c = N'netDefinition' + " + "N'x' + " * 400 + "N'y';\n",
        "SET @c = (" + "CONCAT(N'netDefinition', (" * 20 + "3" + "))" * 20 + ");\n",
        "EXEC sp_execute_external_script N'R', N'f(netDefinition = \"input X [3];\")'\n",
        "SELECT [a " * 20 + "N'f(netDefinition = \"input X [3];\")' ",
        "SET @c = N'netDefinition\\\n';\n",
        "DECLARE @a int = (((N'netDefinition', @x + \"a\" + 'b', (('c'\n",
    ],
)
def test_cost_grows_with_size(text: str) -> None:
    def prepared(copies: int):  # type: ignore[no-untyped-def]
        data = (text * copies).encode()
        return lambda: find_regions("sql", data)

    size = max(1, 3_000 // len(text))
    assert_in_proportion(prepared, size, size * 8)


def test_a_file_without_any_is_left_out_of_a_walk_and_named_reports_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "plain.sql").write_text("SELECT 1;\nGO\n")
    script = (
        "SET @c = N'f(netDefinition = \"\ninput X [3];\noutput Y [1]  linear from Z all;\n\")';"
    )
    (tmp_path / "script.sql").write_bytes(script.encode("utf-16"))
    assert main(["check", ".", "--embedded", "--format", "concise"]) == 1
    output = capsys.readouterr()
    assert "script.sql:3:27: error NS035" in output.out
    assert "plain.sql" not in output.out + output.err
    assert main(["check", "plain.sql"]) == 0
    assert "plain.sql: holds no Net# specification." in capsys.readouterr().err
    assert main(["fmt", "plain.sql", "script.sql"]) == 0
    assert (tmp_path / "script.sql").read_bytes() == script.replace("]  l", "] l").encode("utf-16")
