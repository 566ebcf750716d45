"""Where templates put buffers and kernels, in the order in which a plain program would run them.

It numbers them and knows no formula.
"""

from __future__ import annotations

from collections.abc import Sequence

from netsharp_engine.wgpu_backend.kernels import (
    COUNTING,
    TABLES,
    WORK,
    Buffer,
    DeviceKernel,
    Each,
    LoopNest,
    Operation_,
    OverRow,
    StoreTo,
)


class Building:
    """Buffers and kernels of one program for ``rows`` samples."""

    def __init__(self, rows: int) -> None:
        self.rows = rows
        self.buffers: list[Buffer] = []
        self.kernels: list[DeviceKernel] = []
        #: Whole numbers by the buffer of the tables that holds them.
        self.tables: dict[int, list[int]] = {}
        #: Numbers by the buffer that has them from the start.
        self.constants: dict[int, list[float]] = {}
        self._constants: dict[str, Buffer] = {}
        self._values = 0

    def buffer(
        self, label: str, width: int, *, rows: int = 1, room: str = WORK, kept: bool = False
    ) -> Buffer:
        """Add a buffer."""
        made = Buffer(len(self.buffers), label, rows, width, room, kept)
        self.buffers.append(made)
        return made

    def values(self, label: str, size: int, *, kept: bool = False) -> Buffer:
        """Add a buffer of ``size`` numbers a sample."""
        return self.buffer(label, size, rows=self.rows, kept=kept)

    def table(self, label: str, numbers: Sequence[int]) -> Buffer:
        """Add a table of whole numbers."""
        made = self.buffer(label, len(numbers), room=TABLES)
        self.tables[made.number] = [int(each) for each in numbers]
        return made

    def constant(self, label: str, numbers: Sequence[float]) -> Buffer:
        """Add numbers that never change; the same label means the same buffer."""
        known = self._constants.get(label)
        if known is None:
            known = self._constants[label] = self.buffer(label, len(numbers))
            self.constants[known.number] = list(numbers)
        return known

    def counting(self, what: str, family: str) -> DeviceKernel:
        """Begin a kernel of one element that counts."""
        return DeviceKernel(what, family, COUNTING, 1, 1, (), (), (), (what,))

    def over(self, what: str, family: str, role: str, target: Buffer) -> DeviceKernel:
        """Begin a kernel with the elements of a buffer."""
        return DeviceKernel(what, family, role, target.rows, target.width, (), (), (), (what,))

    def keep(self, known: Buffer) -> Buffer:
        """Mark a buffer as read outside of the plan."""
        made = known._replace(kept=True)
        self.buffers[known.number] = made
        return made

    def number(self) -> int:
        """Return the number of a new value."""
        self._values += 1
        return self._values

    def kernel(
        self,
        what: str,
        family: str,
        role: str,
        target: Buffer,
        *operations: Operation_,
        rows: int | None = None,
        size: int | None = None,
        once: bool = False,
    ) -> DeviceKernel:
        """Add a kernel that stores the result of the last operation.

        In formulas ``{0}`` is what the first operation made, ``{1}`` what the second one did.
        """
        made = DeviceKernel(
            what,
            family,
            role,
            target.rows if rows is None else rows,
            target.width if size is None else size,
            (),
            (),
            (),
            (what,),
        )
        return self.add(made, operations, ((target, len(operations) - 1, once, ""),))

    def add(
        self,
        kernel: DeviceKernel,
        operations: tuple[Operation_, ...],
        stores: tuple[tuple[Buffer, int, bool, str], ...],
    ) -> DeviceKernel:
        """Add a kernel with several results: a buffer, which operation, once a row, and where."""
        numbers: list[int] = []
        body = []
        for operation in operations:
            body.append((self.number(), _filled(operation, numbers)))
            numbers.append(body[-1][0])
        kept = tuple(
            StoreTo(target.number, numbers[place], once, at) for target, place, once, at in stores
        )
        kernel = kernel._replace(body=tuple(body), stores=kept)
        self.kernels.append(kernel)
        return kernel

    def marked(self, kernel: DeviceKernel, target: Buffer) -> None:
        """Let a kernel also store to ``target`` where the maximum of its first operation was
        met.
        """
        number = self.number()
        first = kernel.body[0][0]
        body = (*kernel.body, (number, Each(f"a{first}")))
        changed = kernel._replace(
            body=body, stores=(*kernel.stores, StoreTo(target.number, number))
        )
        self.kernels[self.kernels.index(kernel)] = changed


def _filled(operation: Operation_, numbers: list[int]) -> Operation_:
    """Return an operation whose formula names the values before it."""
    names = [f"v{number}" for number in numbers]
    if isinstance(operation, LoopNest) or not names:
        return operation
    formula = operation.formula
    for place, name in enumerate(names):
        formula = formula.replace(f"{{{place}}}", name)
    if isinstance(operation, OverRow):
        return OverRow(operation.how, formula)
    return Each(formula)
