"""Which files of third-party manifests probably belong together."""

from __future__ import annotations

import pytest
from trainyard.verify.loose_ends import beside


@pytest.mark.parametrize(
    ("one", "other", "together"),
    [
        ("a/x.yaml", "a/y.yaml", True),
        ("a/x.yaml", "a/b/y.yaml", True),
        ("a/x.yaml", "b/y.yaml", False),
        ("x.yaml", "b/y.yaml", True),
        ("./x.yaml", "./y.yaml", True),
        ("./x.yaml", "./b/y.yaml", True),
        ("./a/x.yaml", "./a/y.yaml", True),
        ("./a/x.yaml", "b/y.yaml", False),
        ("../x.yaml", "../b/y.yaml", True),
        ("/a/x.yaml", "a/x.yaml", False),
    ],
)
def test_files_of_one_folder_or_one_below_it_belong_together(
    one: str, other: str, together: bool
) -> None:
    assert beside(one, other) is together
    assert beside(other, one) is together
