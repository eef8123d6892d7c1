"""Whether a command starts sshd, by which others reach a pod."""

from __future__ import annotations

import re
from collections.abc import Sequence

_STARTS = re.compile(
    r"(?:^|[\s;&|(/])sshd\b|\bservice\s+sshd?\s+(?:re)?start|/etc/init\.d/sshd?\b|\bsystemctl\s+\S*\s*start\s+sshd?\b"
)


def starts_sshd(words: Sequence[str]) -> bool:
    """Whether one of the words, or a line in it, starts the daemon."""
    return any(_STARTS.search(word) for word in words)
