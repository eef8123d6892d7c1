"""Recognises our own files, by a line that each of them has near its top.

The line holds the file's path in the cluster's folder and nothing that changes. So it never conflicts in a merge, a
file with conflict markers is still known as ours, and a copy under another name is not.
"""

from __future__ import annotations

import json

WORDS = "Written by trainyard as "
ADVICE = ". Do not edit: edit the spec, then run `trainyard compile`."
BEFORE = "Written by trainyard, edit the spec instead: "  # until 2026-11, the path last
KEY = "trainyard.dev/file"
_INTERPRETER = b"#!"  # of a script that is run by itself: nothing may stand before it
_FIRST = 4096  # bytes in which the line stands
_LINES = 8  # a merge puts its own marks, and the other side's line, before it


def marked(path: str, data: bytes) -> bytes:
    """The content of a file with the line that makes it ours: a comment, or the first key of a JSON object. It follows
    the line that names the interpreter of a script, which must be the first."""
    line = _line(path)
    if path.endswith(".json"):
        opening = data[:2]
        rest = data[2:]
        if opening != b"{\n":
            raise ValueError(f"not an object over several lines: {path!r}")
        return opening + b" " + line + b"\n" + rest
    if data.startswith(_INTERPRETER):
        first, _, rest = data.partition(b"\n")
        return first + b"\n" + line + b"\n" + rest
    return line + b"\n" + data


def is_marked(path: str, data: bytes) -> bool:
    """Whether content that stands at a path says that it is ours, at this very path; by an earlier line of ours too."""
    mark = _line(path)
    if _begins(data, mark):
        return True
    earlier = _comment(path, BEFORE + path)
    opening = data[:_FIRST].split(b"\n", _LINES)
    lines = opening[:_LINES]
    if path.endswith(".json"):
        entries = (mark.removesuffix(b","), earlier.removesuffix(b","))
        return any(entry in line for line in lines for entry in entries)
    return any(line.strip() in (mark, earlier) for line in lines)


def _begins(data: bytes, mark: bytes) -> bool:
    """Whether content begins with a line."""
    end = len(mark)
    following = data[end : end + 1]
    return data.startswith(mark) and following in (b"\n", b"\r", b"")


def _line(path: str) -> bytes:
    return _comment(path, f"{WORDS}{path}{ADVICE}")


def _comment(path: str, text: str) -> bytes:
    """A text in the form in which a file of this name can hold it; most JSON has a key for the path alone."""
    if path.endswith(".tf.json"):
        # The one key for remarks that Terraform leaves alone (JSON configuration syntax, comment properties).
        line = f'"//": {json.dumps(text)},'
    elif path.endswith(".json"):
        key = json.dumps(KEY)
        line = f"{key}: {json.dumps(path)},"
    elif path.endswith(".md"):
        line = f"<!-- {text} -->"
    else:
        line = f"# {text}"
    return line.encode()
