"""What holds for every host text: places there and back, formatting in place, nothing outside."""

from __future__ import annotations

from netsharp_lsp.cli.inputs.embedded import format_host
from netsharp_lsp.cli.inputs.files import Input
from netsharp_lsp.embedded.finding import find_regions
from netsharp_lsp.embedded.hosts import host_of
from netsharp_lsp.embedded.regions import Region
from netsharp_lsp.layout.options import FormatOptions


def regions_of(name: str, data: bytes) -> list[Region]:
    """Return the specifications of a host that can be read."""
    found = find_regions(host_of(name) or "", data)
    assert isinstance(found, list), found
    return found


def formatted(name: str, data: bytes) -> bytes:
    """Return a host with its specifications formatted where they stand."""
    done = format_host(Input(name, None), data, regions_of(name, data), FormatOptions())
    assert done.failure is None
    return done.text


def outside(data: bytes, regions: list[Region]) -> list[bytes]:
    """Return the stretches of a host around its specifications."""
    pieces, at = [], 0
    for region in regions:
        pieces.append(data[at : region.start])
        at = region.end
    return [*pieces, data[at:]]


def assert_nothing_outside_changes(name: str, data: bytes) -> None:
    """Format a host, and compare the text around its specifications."""
    after = formatted(name, data)
    before_regions, after_regions = regions_of(name, data), regions_of(name, after)
    assert outside(after, after_regions) == outside(data, before_regions)
    assert [(r.name, r.context) for r in after_regions] == [
        (r.name, r.context) for r in before_regions
    ]


def assert_formatting_is_stable(name: str, data: bytes) -> None:
    """Format a host twice: the second time nothing changes."""
    once = formatted(name, data)
    assert formatted(name, once) == once


def assert_offsets_go_there_and_back(name: str, data: bytes) -> None:
    """Map every byte of every specification to the host and back."""
    for region in regions_of(name, data):
        outer = [region.outer(inner) for inner in range(len(region.text) + 1)]
        assert outer == sorted(outer)
        assert region.start <= outer[0]
        assert outer[-1] == region.end
        for inner, place in enumerate(outer):
            back = region.inner(place)
            assert back is not None
            assert region.outer(back) == place
            assert back <= inner
        assert region.inner(region.start - 1) is None
        assert region.inner(region.end + 1) is None
