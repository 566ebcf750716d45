"""Run as a module: torchrun with our sentences in place of its log, for ``launching``.

What torchrun does stays torchrun's: the meeting of machines, starting, watching, starting again.
"""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Callable
from typing import Any

from netsharp_engine.distributed.following import end_with_parent

#: The variable with the path of a file that is made where the machines begin to meet.
READY = "NETSHARP_AGENT_READY"
#: What the process ends with where workers ended too often, machines did not come together, or
#: torch cannot be loaded.
WORKERS_LOST, NOT_MET, NOT_LOADED = 3, 4, 6

try:
    from torch.distributed.elastic.multiprocessing import SignalException
    from torch.distributed.elastic.multiprocessing.errors import ChildFailedError
    from torch.distributed.elastic.rendezvous.api import RendezvousError
    from torch.distributed.run import parse_args, run
except (ImportError, OSError):
    sys.exit(NOT_LOADED)


def main(arguments: list[str]) -> int:
    """Run torchrun with the arguments up to ``--`` and the command of a process after it.

    torchrun would look for flags of its own in that command.
    """
    end_with_parent()
    logging.disable(logging.CRITICAL)
    with open(os.environ[READY], "wb"):
        pass
    place = arguments.index("--")
    parse: Callable[[list[str]], Any] = parse_args
    asked = parse([*arguments[:place], arguments[place + 1]])
    start: Callable[[Any], None] = run
    asked.training_script_args = arguments[place + 2 :]
    try:
        start(asked)
    except ChildFailedError:
        return WORKERS_LOST
    except (RendezvousError, ConnectionError, TimeoutError, RuntimeError):
        return NOT_MET
    except SignalException as error:
        return 128 + int(error.sigval)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
