"""How a file shows that it is ours: by a line that every file of ours has among its first.

The line holds the file's path in the cluster's folder and nothing that changes. So it never conflicts in a merge, a
file with conflict markers is still known as ours, and a copy under another name is not.
"""

from __future__ import annotations

import json

WORDS = "Written by trainyard, edit the spec instead: "
KEY = "trainyard.dev/file"
_FIRST = 4096  # bytes in which the line stands
_LINES = 8  # a merge puts its own marks, and the other side's line, before it


def marked(path: str, data: bytes) -> bytes:
    """The content of a file with the line that makes it ours: a comment, or the first key of a JSON object."""
    line = _line(path)
    if path.endswith(".json"):
        opening = data[:2]
        rest = data[2:]
        if opening != b"{\n":
            raise ValueError(f"not an object over several lines: {path!r}")
        return opening + b" " + line + b"\n" + rest
    return line + b"\n" + data


def is_marked(path: str, data: bytes) -> bool:
    """Whether content that stands at a path says that it is ours, at this very path."""
    mark = _line(path)
    if data.startswith(mark):
        end = len(mark)
        following = data[end : end + 1]
        return following in (b"\n", b"\r", b"")
    opening = data[:_FIRST].split(b"\n", _LINES)
    lines = opening[:_LINES]
    if path.endswith(".json"):
        entry = mark.removesuffix(b",")
        return any(entry in line for line in lines)
    return any(line.strip() == mark for line in lines)


def _line(path: str) -> bytes:
    if path.endswith(".tf.json"):
        # The one key for remarks that Terraform leaves alone (JSON configuration syntax, comment properties).
        line = f'"//": {json.dumps(WORDS + path)},'
    elif path.endswith(".json"):
        key = json.dumps(KEY)
        line = f"{key}: {json.dumps(path)},"
    elif path.endswith(".md"):
        line = f"<!-- {WORDS}{path} -->"
    else:
        line = f"# {WORDS}{path}"
    return line.encode()
