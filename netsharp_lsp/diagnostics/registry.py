"""The registry of a language's rules, whatever they check and wherever their findings come from.

Rules are found by import: modules and pages in a folder for each subject. What a language needs to
know of a code besides its severity are traits of its own. Knows no language and no rule.
"""

from __future__ import annotations

import os
from importlib import import_module

from netsharp_lsp.generics import Generic, TypeVar

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from typing import Any

    from netsharp_lsp.diagnostics.model import Severity

CheckT = TypeVar("CheckT")
TraitsT = TypeVar("TraitsT")


class SubjectKind(Generic[CheckT]):
    """A kind of subject that rules check; `CheckT` is the type of a function that checks one."""

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.name = name


class Rule(Generic[CheckT, TraitsT]):
    """One rule: its code, its severity, its kind of subject, and the function that checks one."""

    __slots__ = ("check", "code", "severity", "subject", "traits")

    def __init__(
        self,
        code: str,
        severity: Severity,
        subject: SubjectKind[CheckT],
        check: CheckT,
        traits: TraitsT,
    ) -> None:
        self.code = code
        self.severity = severity
        self.subject = subject
        self.check = check
        self.traits = traits


class Registry(Generic[TraitsT]):
    """The rules of the modules in the folders of a package, and every code that they declare.

    `severities`, `traits`: of each code, including those whose findings are made elsewhere. Before
    `load` the registry has only the modules that were imported otherwise.
    """

    __slots__ = ("_complete", "_folder", "_package", "_rules", "severities", "traits")

    def __init__(self, package: str, folder: str) -> None:
        self._package = package
        self._folder = folder
        self._rules: list[Rule[Any, TraitsT]] = []
        self._complete = False
        self.severities: dict[str, Severity] = {}
        self.traits: dict[str, TraitsT] = {}

    def rule(
        self, code: str, severity: Severity, on: SubjectKind[CheckT], traits: TraitsT
    ) -> Callable[[CheckT], CheckT]:
        """Register a function that checks one kind of subject for one code."""

        def register(check: CheckT) -> CheckT:
            self._rules.append(Rule(code, severity, on, check, traits))
            self.emitted(code, severity, traits)
            return check

        return register

    def emitted(self, code: str, severity: Severity, traits: TraitsT) -> None:
        """Declare a code whose findings are made elsewhere."""
        self.severities[code], self.traits[code] = severity, traits

    def load(self) -> Sequence[Rule[Any, TraitsT]]:
        """Import every module of rules, once, and return the rules in the order of codes."""
        if not self._complete:
            _import_rules(self._package, self._folder)
            self._rules.sort(key=lambda rule: rule.code)
            self._complete = True
        return self._rules

    def on(self, kind: SubjectKind[CheckT]) -> list[Rule[CheckT, TraitsT]]:
        """Return the rules on one kind of subject, in the order of codes."""
        return [rule for rule in self.load() if rule.subject is kind]


def subjects_in(folder: str) -> Iterator[str]:
    """Yield the folders of a folder, by their names in order."""
    for name in sorted(os.listdir(folder)):
        if "." not in name and not name.startswith("_"):
            yield name


def _import_rules(package: str, folder: str) -> None:
    """Import every module that is beside pages, in a package or in the folders of it."""
    for path, within in ((package, folder), *_rooms(package, folder)):
        names = sorted(os.listdir(within))
        if any(name.endswith(".md") for name in names):
            for name in names:
                if name.endswith(".py") and not name.startswith("_"):
                    import_module(f"{path}.{name.removesuffix('.py')}")


def _rooms(package: str, folder: str) -> Iterator[tuple[str, str]]:
    for subject in subjects_in(folder):
        yield f"{package}.{subject}", os.path.join(folder, subject)
