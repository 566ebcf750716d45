"""Why machines do not meet, as sentences: names, addresses, ports, asked of this machine alone."""

from __future__ import annotations

import ipaddress
import os
import socket
import struct
import sys
from contextlib import suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from netsharp_lsp.cli.machines.options import Machines

#: Linux: the address of an interface (netdevice(7)).
_SIOCGIFADDR = 0x8915
#: The environment variable that names the interface for gloo.
INTERFACE = "GLOO_SOCKET_IFNAME"
_CONNECTS = 2.0


def unreachable(machines: Machines) -> str | None:
    """Return why machines cannot connect, as far as is known here; None without a reason.

    Where the meeting place loops back all of them are this machine, and so may its own name.
    """
    chosen = os.environ.get(INTERFACE, "")
    faulty = _interface_fault(chosen) if chosen else None
    if faulty is not None or machines.nodes == 1:
        return faulty
    there = _addresses(machines.host)
    if not there:
        return (
            f"--rendezvous: no machine is known as '{machines.host}'. Give the name or the address "
            "of one of the machines."
        )
    own = _addresses(socket.gethostname())
    if _loops(there):
        return None
    if chosen:
        return _loopback_fault(chosen, machines.host)
    if not own or not _loops(own):
        return None
    way = _local_address_towards(machines)
    name = None if way is None else _interface_of(way)
    return (
        f"The name of this machine, {socket.gethostname()}, means {own[0]}, which loops back: the "
        f"others would look for it on themselves. Set {INTERFACE}={name or 'NAME'}, the network "
        f"interface that leads to {machines.host}, or correct the name in /etc/hosts."
    )


def _interface_fault(chosen: str) -> str | None:
    """Return a sentence on an interface that is chosen and does not exist here.

    Windows has other names for them than gloo.
    """
    if sys.platform == "win32":
        return None
    names = [name for _, name in socket.if_nameindex()]
    odd = [each for each in chosen.split(",") if each not in names]
    if not odd:
        return None
    return (
        f"{INTERFACE}={chosen}: this machine has no network interface '{odd[0]}'. It has "
        f"{', '.join(names)}."
    )


def _loopback_fault(chosen: str, host: str) -> str | None:
    """Return a sentence on a chosen interface that no other machine reaches."""
    address = _address_of(chosen.split(",")[0])
    if address is None or not _loops([address]):
        return None
    return (
        f"{INTERFACE}={chosen}: its address is {address}, which loops back, so that other machines "
        f"cannot connect. Set the network interface that leads to {host}."
    )


def is_taken(machines: Machines) -> bool:
    """Return whether another program uses the port on which machines meet here."""
    if machines.nodes == 1:
        return False
    for address in _addresses(machines.host):
        family = socket.AF_INET6 if ":" in address else socket.AF_INET
        with suppress(OSError), socket.socket(family) as tried:
            tried.settimeout(_CONNECTS)
            tried.connect((address, machines.port))
            return True
    return False


def absent(machines: Machines, seconds: float, *, taken: bool) -> str:
    """Return why not all came within ``seconds``; ``taken``: the port was in use before."""
    place = f"{machines.host}:{machines.port}"
    what = f"Not all of the {machines.nodes} machines came to {place} within {seconds:.0f} seconds."
    if taken:
        return (
            f"{what} Something had the port before: another machine of this run, or a program that "
            "does not know torchrun. In the second case choose another port."
        )
    if _loops(_addresses(machines.host)):
        return (
            f"{what} {machines.host} loops back, so that each machine waits for itself: give an "
            "address that the others reach, or start the command again here for each --nodes."
        )
    if not _is_own(machines.host) and not is_taken(machines):
        return (
            f"{what} Nothing answers there: start the same command on {machines.host}, and let its "
            f"firewall pass port {machines.port}."
        )
    return f"{what} Start the same command on each of them."


def apart(machines: Machines, seconds: float) -> str:
    """Return why processes that have started did not connect within ``seconds``."""
    what = f"The processes did not connect within {seconds:.0f} seconds after they had started."
    if machines.nodes == 1:
        return f"{what} Start the command again."
    return (
        f"{what} They connect at ports that the system chooses: let the firewalls of all machines "
        f"pass these, or set {INTERFACE} to the network interface that leads to the others."
    )


def _addresses(host: str) -> list[str]:
    with suppress(OSError):
        return list(dict.fromkeys(str(one[4][0]) for one in socket.getaddrinfo(host, None)))
    return []


def _loops(addresses: list[str]) -> bool:
    return bool(addresses) and all(ipaddress.ip_address(one).is_loopback for one in addresses)


def _local_address_towards(machines: Machines) -> str | None:
    """Return the own address from which the meeting place is reached; nothing is sent."""
    with suppress(OSError), socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        probe.connect((machines.host, machines.port))
        return str(probe.getsockname()[0])
    return None


def _is_own(host: str) -> bool:
    """Return whether a host is this machine, as another's address cannot be bound."""
    for address in _addresses(host):
        family = socket.AF_INET6 if ":" in address else socket.AF_INET
        with suppress(OSError), socket.socket(family) as tried:
            tried.bind((address, 0))
            return True
    return False


def _interface_of(address: str) -> str | None:
    """Return the name of the interface with an address, where the system is asked for it."""
    names = (name for _, name in socket.if_nameindex())
    return next((name for name in names if _address_of(name) == address), None)


def _address_of(name: str) -> str | None:
    """Return the IPv4 address of an interface, where the system is asked for it."""
    try:
        import fcntl
    except ImportError:  # Windows
        return None
    query = struct.pack("256s", name.encode()[:15])
    with suppress(OSError), socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as here:
        found = fcntl.ioctl(here.fileno(), _SIOCGIFADDR, query)
        return socket.inet_ntoa(found[20:24])
    return None
