"""Ask the process of ``forks.py`` for a run; as a program, ``trainyard`` for scripts and hooks that tests start.

It imports what it needs and no more, so it starts in a fiftieth of the time that the compiler takes.
"""

from __future__ import annotations

import json
import os
import socket
import sys
from collections.abc import Mapping, Sequence


def ask(
    door: str,
    words: Sequence[str],
    cwd: str,
    env: Mapping[str, str],
    streams: Sequence[int],
    loaded: str = "",
) -> int:
    """The exit code of a run with these three streams. ``loaded`` is the file for the names of its modules."""
    request = {"words": words, "cwd": cwd, "env": dict(env), "loaded": loaded}
    with socket.socket(socket.AF_UNIX) as asked:
        asked.connect(door)
        socket.send_fds(asked, [b"."], streams)
        asked.sendall(json.dumps(request).encode())
        asked.shutdown(socket.SHUT_WR)
        with asked.makefile() as answer:
            return int(answer.read())


if __name__ == "__main__":
    sys.exit(ask(sys.argv[1], sys.argv[2:], os.getcwd(), os.environ, (0, 1, 2)))
