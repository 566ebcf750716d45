"""A pattern that repeats a group gives nothing back: each time round it would keep a place to
return to, 100 bytes and more for each byte of a text that someone else has written.
"""

from __future__ import annotations

import importlib
import pkgutil
import re
import sys
from collections.abc import Iterator, Sequence
from typing import Any

import netsharp_lsp

#: Modules that run when they are imported.
RUN = ("netsharp_lsp.__main__",)
#: So often and no oftener may a group be repeated that is given back.
FEW = 1_000
PARSER: Any = importlib.import_module("re._parser")
OPERATIONS: Any = importlib.import_module("re._constants")
ONE_CHARACTER = (
    *(OPERATIONS.LITERAL, OPERATIONS.NOT_LITERAL, OPERATIONS.IN, OPERATIONS.ANY),
    *(OPERATIONS.RANGE, OPERATIONS.CATEGORY),
)


def patterns() -> Iterator[tuple[str, re.Pattern[Any]]]:
    """Every pattern that a module of the package holds by a name."""
    for module in pkgutil.walk_packages(netsharp_lsp.__path__, "netsharp_lsp."):
        if module.name in RUN:
            continue
        try:
            importlib.import_module(module.name)
        except ImportError:  # It needs a package that is not installed here.
            continue
    for name, module_object in sorted(sys.modules.items()):
        if name.startswith("netsharp_lsp."):
            for key, value in vars(module_object).items():
                # Those of `text.expressions` are compiled when they are first asked.
                if isinstance(value, re.Pattern) or type(value).__name__ == "late":
                    yield f"{name}.{key}", value


def kept(items: Sequence[tuple[Any, Any]]) -> Iterator[str]:
    """The repeated groups in a parsed pattern that keep where they may return to."""
    for operation, value in items:
        if operation is OPERATIONS.MAX_REPEAT:
            _, most, body = value
            if most > FEW and not (len(body) == 1 and body[0][0] in ONE_CHARACTER):
                yield str(body)
        for part in value if isinstance(value, tuple | list) else (value,):
            if isinstance(part, PARSER.SubPattern):
                yield from kept(part)
            elif isinstance(part, list):
                for one in part:
                    if isinstance(one, PARSER.SubPattern):
                        yield from kept(one)


def test_no_pattern_keeps_a_place_for_each_byte() -> None:
    found = dict(patterns())
    assert len(found) > 100
    wrong = {
        name: groups
        for name, pattern in found.items()
        if (groups := list(kept(PARSER.parse(pattern.pattern, pattern.flags & ~re.UNICODE))))
    }
    assert not wrong


def test_a_group_that_is_given_back_is_seen() -> None:
    for wrong in (r'"(?:[^"\\]|\\.)*"', r"a(b|(?:cd)+)e", r"(?=(?:ab)*)c"):
        assert list(kept(PARSER.parse(wrong))), wrong
    for right in (r'"(?:[^"\\]++|\\.)*+"', r"a*b+", r"(?:ab){3}", r"(?>(?:ab)++)"):
        assert not list(kept(PARSER.parse(right))), right
