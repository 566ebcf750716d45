"""When variants are measured, and when those that are kept are taken: for a network and a device.

A software driver is not tuned unless asked for.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from hashlib import blake2b

from netsharp_engine.graph import GraphError
from netsharp_engine.wgpu_backend.planning.plan import DevicePlan
from netsharp_engine.wgpu_backend.program import DeviceProgram
from netsharp_engine.wgpu_backend.running import KINDS, Adapter
from netsharp_engine.wgpu_backend.tuning.keeping import (
    DeviceIdentity,
    keep_variants,
    kept_variants,
    latest_variants,
)
from netsharp_engine.wgpu_backend.tuning.measuring import known, tuned
from netsharp_engine.wgpu_backend.variants import Choices

#: A variable of the environment: "off" leaves all kernels plain, "on" tries software, too.
TUNE = "NETSHARP_TUNE"


def network_of(plan: DevicePlan) -> str:
    """Return the key of a network, its batch and its rule: a digest of programs."""
    found = blake2b(digest_size=16)
    for one in (*plan.step, *plan.forward):
        found.update(plan.text(one).encode())
    return found.hexdigest()


def chosen_variants(
    plan: DevicePlan, adapter: Adapter, make: Callable[[], DeviceProgram]
) -> Choices:
    """Return the variants for a plain plan: those that are kept, else those that are measured.

    ``make`` makes a program of the plan to try them on.  What does not train is not measured.
    """
    setting = os.environ.get(TUNE, "").casefold()
    if setting == "off" or (adapter.software and setting != "on"):
        return Choices({})
    device, network = DeviceIdentity.here(adapter.name, adapter.driver), network_of(plan)
    kept = kept_variants(device, network)
    if kept is not None:
        return Choices(known(kept), "measured before")
    if not plan.trains:
        return Choices({})
    try:
        program = make()
        try:
            found = tuned(program)
        finally:
            program.machine.give_back()
    except GraphError:
        # The network itself may fit: what tries variants is a second copy.
        return Choices({}, "not measured: the device refuses a second copy")
    keep_variants(device, network, found.variants)
    return Choices(found.variants, f"measured in {found.seconds:.1f} s")


def planned_variants(plan: DevicePlan, wanted: str = "") -> Choices:
    """Return the latest choice for a plan on a device of that name, which need not be present.

    A kind of device, such as "cpu", is the name of none: then any device's choice counts.
    """
    if os.environ.get(TUNE, "").casefold() == "off":
        return Choices({})
    is_kind = wanted.casefold() in map(str.casefold, KINDS)
    found = latest_variants(network_of(plan), "" if is_kind else wanted)
    return (
        Choices({})
        if found is None
        else Choices(known(found[1]), f"measured on {found[0].adapter}")
    )


class DeviceTuning:
    """What a draft asks for variants: of one adapter, or, None, of any by the name ``wanted``."""

    def __init__(self, adapter: Adapter | None, wanted: str = "") -> None:
        self.adapter, self.wanted = adapter, wanted

    def chosen(self, plan: DevicePlan, make: Callable[[], DeviceProgram]) -> Choices:
        """Return those that are kept for the adapter, else those that are measured on it."""
        return Choices({}) if self.adapter is None else chosen_variants(plan, self.adapter, make)

    def planned(self, plan: DevicePlan) -> Choices:
        """Return the latest choice for a plan."""
        wanted = self.wanted if self.adapter is None else self.adapter.name
        return planned_variants(plan, wanted)
