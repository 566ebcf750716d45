"""Runs tests with one line of a module changed, as if a rule had never been written down.

python -m tests.cntk.training.undone MODULE BEFORE AFTER TEST...
"""

from __future__ import annotations

import importlib.machinery
import importlib.util
import sys
from types import CodeType, ModuleType
from typing import Any

import pytest


class _Changed(importlib.machinery.SourceFileLoader):
    """Loads a module of which one place says something else; no bytecode is read or kept."""

    def __init__(self, name: str, path: str, before: str, after: str) -> None:
        super().__init__(name, path)
        self._before, self._after = before, after

    def get_code(self, fullname: str) -> CodeType:
        text = self.get_data(self.path).decode()
        assert text.count(self._before) == 1, f"{self._before!r} stands {text.count(self._before)}x"
        return compile(text.replace(self._before, self._after), self.path, "exec")


class _Finder:
    """Finds the changed module before others find it as it is."""

    def __init__(self, name: str, before: str, after: str) -> None:
        self._name, self._before, self._after = name, before, after

    def find_spec(
        self, name: str, path: Any = None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        if name != self._name:
            return None
        found = importlib.machinery.PathFinder.find_spec(name, path, target)
        assert found is not None
        assert found.origin is not None
        loader = _Changed(name, found.origin, self._before, self._after)
        return importlib.util.spec_from_loader(name, loader)


def main(arguments: list[str]) -> int:
    """Run the tests; pytest's exit code, 1 where one failed."""
    module, before, after, *tests = arguments
    assert module not in sys.modules, module
    sys.meta_path.insert(0, _Finder(module, before, after))  # type: ignore[arg-type]
    code = pytest.main(["-q", "-x", "-p", "no:cacheprovider", "--tb=line", *tests])
    assert module in sys.modules, f"no test has imported {module}"
    return int(code)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
