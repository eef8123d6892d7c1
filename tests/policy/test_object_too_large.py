"""LIM041 at the limit of etcd itself, which no example reaches."""

from __future__ import annotations

from datetime import date
from pathlib import Path
from typing import Any

import pytest
from builders import dumped, spec
from trainyard.run.driver import check
from trainyard.run.outcome import Options

OPTIONS = Options(today=date(2026, 11, 22))


def _found(labels: int, tmp_path: Path) -> list[Any]:
    data = spec()
    data["spec"]["jobs"][0]["labels"] = {f"label-{index}": "v" for index in range(labels)}
    file = tmp_path / "spec.yaml"
    file.write_text(dumped(data))
    return [each for each in check([file], OPTIONS).all() if each.code == "LIM041"]


@pytest.mark.slow
@pytest.mark.parametrize(("labels", "count"), [(30_000, 0), (45_000, 1)])
def test_labels_count_with_the_names_of_who_manages_them(
    labels: int, count: int, tmp_path: Path
) -> None:
    found = _found(labels, tmp_path)
    assert len(found) == count
    for each in found:
        assert str(each.at) == "spec.jobs[0].labels"
        assert "1,572,864" in each.message
