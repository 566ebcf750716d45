"""The registry of back ends: devices by name, whether they can be used, and which one is chosen.

Families are asked lazily: nothing of torch or wgpu is imported before one of their devices is.
"""

from netsharp_engine.backends.choosing import (
    Device,
    backend,
    choose,
    planner,
    refused,
    survey,
    title_of,
)
from netsharp_engine.backends.families import FAMILIES, DeviceFamily
from netsharp_engine.backends.naming import AUTO, CPU, PRECISIONS, WORDS, DeviceName, parsed

__all__ = [
    "AUTO",
    "CPU",
    "FAMILIES",
    "PRECISIONS",
    "WORDS",
    "Device",
    "DeviceFamily",
    "DeviceName",
    "backend",
    "choose",
    "parsed",
    "planner",
    "refused",
    "survey",
    "title_of",
]
