"""Files of CNTK's languages with bytes changed: every command must survive them."""

from __future__ import annotations

import random
from collections.abc import Iterator

from netsharp_lsp.context import Context
from netsharp_lsp.diagnostics.suppression import find_suppressions, suppress
from netsharp_lsp.language import language_by_id
from netsharp_lsp.layout.options import FormatOptions
from netsharp_lsp.text.decode import decode_legacy
from netsharp_lsp.text.lines import LineIndex
from tests.cntk.collection import FILES as COLLECTED
from tests.cntk.collection import CntkFile
from tests.fuzz.bytes import ALPHABETS, mutated
from tests.fuzz.checking import is_boundary

#: Longer files take long and say nothing new.
LONGEST = 2_500
FILES = [file for file in COLLECTED if 0 < len(file.data) <= LONGEST]
OPTIONS = FormatOptions()
#: What the four languages are made of, and their traps.
PIECES = (
    "a = b|{|}|[|]|(|)|:|;|,|#| #|\"|'|/*|*/|//|$a$|$|=>|..|**|*1000000000|1e400|0x|new |if |"
    ' then | else |include "x"|include=x|array[0..9](i => i)|f (x) = f (x)|Input (3)|'
    "Parameter(3,4)|Times(W, x)|criterionNodes = (a)|command=a:b|action=train|load=ndl|"
    "run=ndl|NDLNetworkBuilder=[|BrainScriptNetworkBuilder={|SetProperty(a.*, criterion, true)|"
    "é|😀|\u2028|\ufeff|\x00|\r|\n|\t"
)
WORDS = PIECES.encode().split(b"|")


def trial(chance: random.Random) -> Iterator[bytes]:
    """A few texts: a file of the collection with a few places changed."""
    file = chance.choice(FILES)
    for _ in range(4):
        data = mutated(file.data, chance)
        for _ in range(chance.randint(0, 3)):
            at = chance.randrange(len(data) + 1)
            data = data[:at] + chance.choice(WORDS) + data[at:]
        if chance.random() < 0.05:
            data = bytes(chance.choices(chance.choice(ALPHABETS), k=chance.randint(0, 60)))
        text = decode_legacy(data).text
        yield text
        check_all(file, text)


def check_all(file: CntkFile, text: bytes) -> None:
    """Every answer comes, diagnostics lie at characters, and formatted text stays as it is."""
    language = language_by_id(file.id)
    context = Context()
    result = language.check(text, context)
    lines = LineIndex(text)
    suppressions = find_suppressions(lines, list(result.comments), *language.comment_marks)
    codes = language.rules.codes
    for found in suppress(
        result.diagnostics, lines, suppressions, lambda: codes, *language.suppression_codes
    ):
        assert found.code in codes
        assert 0 <= found.start <= found.end <= len(text), found
        assert is_boundary(text, found.start), found
        assert is_boundary(text, found.end), found
    language.describe(text, context)
    language.open(text, context).migrate()
    formatted = language.format(text, OPTIONS)
    assert formatted.failure is None, formatted.failure
