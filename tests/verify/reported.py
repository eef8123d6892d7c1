"""What is said of each sound object with a fault in it (``test_bodies.CASES``), as people read it, and whether it is
at a key or at its value; ``python -m tests.verify.reported`` writes it again.

The cases say which code is reported where; these lines say how it reads.
"""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))  # as pytest finds what tests share

from trainyard.language.places import Route

from verify.test_bodies import CASES, faults_of

FILE = Path(__file__).with_suffix(".txt")


def said() -> list[str]:
    """A line for each fault, in the order of the cases."""
    lines = []
    for kind, edits, _, _ in CASES:
        for fault in faults_of(kind, edits):
            place = f"{kind} {Route(fault.path)}, {'key' if fault.key else 'value'}"
            lines.append(f"{place}: {fault.code} {fault.message} → {fault.help}".replace("\n", "⏎"))
    return lines


if __name__ == "__main__":
    FILE.write_text("\n".join(said()) + "\n", encoding="utf-8")
