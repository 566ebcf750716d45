"""What is kept from Python's parser changes nothing of what is found."""

from __future__ import annotations

import random

import pytest

from netsharp_lsp.embedded.finding import find_regions
from netsharp_lsp.embedded.python import legible
from netsharp_lsp.embedded.regions import Region

NET = "input A [2];\noutput B [2] from A all;"


def made(chance: random.Random) -> bytes:
    """A text of runs of comments and blank lines, in strings and between them."""
    name = f"n{chance.randrange(4)}"
    runs = ("# c\n", "\n", "\\\n", "    # é\n\n")
    run = chance.choice(runs) * chance.randrange(7)
    pieces = (
        run,
        f'{name} = """{NET}\n{run}"""\n',
        f"f(net_definition={name})\n",
        f'# language=Net#\n{run}"input A [3];"\n',
        f'def g(a):\n{run}    return f(net_definition="é{NET[:12]}")\n',
        f'x = "\\\n{run}"\n',
        f'x = f"{"{a}" * chance.randrange(9)}"\n',
        f'x = f"{"{a}" * 9}\n',
    )
    return "".join(chance.choices(pieces, k=12)).encode()


def shown(regions: list[Region]) -> list[object]:
    return [(one.start, one.end, one.text, one.name, one.context.origin) for one in regions]


@pytest.mark.costly
def test_what_is_left_out_for_the_parser_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    texts = [made(random.Random(seed)) for seed in range(300)]
    all_read = [shown(find_regions("python", text)) for text in texts]
    monkeypatch.setattr(legible, "_FEW", 1)
    monkeypatch.setattr(legible, "_FEW_HOLES", 2)
    assert [shown(find_regions("python", text)) for text in texts] == all_read
    assert sum(map(len, all_read)) > 300


def test_comments_alone_are_no_code() -> None:
    assert not legible.has_code(b"# input A [2];\nx = 1\n")
    assert legible.has_code(b"# input\nx = 'input A [2];'\n")
    assert legible.has_code(b"x = '# input A [2];'\n")
    assert legible.has_code(b"# language=Net#\nx = ''\n")
