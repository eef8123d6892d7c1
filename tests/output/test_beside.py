"""Two values beside each other."""

from __future__ import annotations

import pytest
from trainyard.output.beside import beside

LONG = "x" * 200


@pytest.mark.parametrize("longest", [30, 60, 100])
def test_long_texts_show_where_they_differ(longest: int) -> None:
    before, after = beside(f"{LONG}old{LONG}", f"{LONG}new{LONG}", longest)
    assert "old" in before
    assert "new" in after
    assert max(len(before), len(after)) <= longest
    assert beside("a", "b", longest) == ("a", "b")
