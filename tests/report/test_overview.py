"""Of several clusters the overview comes first, then those that change, and the others are folded to a line."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml
from builders import spec
from running import Command

pytestmark = pytest.mark.slow


def _write(folder: Path, name: str, **job: Any) -> None:
    (folder / "specs").mkdir(exist_ok=True)
    data = spec(name=name, job={"timeout": "1h", **job})
    (folder / "specs" / f"{name}.yaml").write_text(yaml.safe_dump(data))


@pytest.fixture
def folder(tmp_path: Path, trainyard: Command) -> Path:
    """Three clusters that are committed, of which the last has a new job now."""
    for name in ("alpha", "beta", "gamma"):
        _write(tmp_path, name)
    assert trainyard("compile", "specs", cwd=tmp_path).code == 0
    _write(tmp_path, "gamma", nodes=2)
    return tmp_path


def test_what_changes_comes_first(folder: Path, trainyard: Command) -> None:
    text = trainyard("report", "specs", cwd=folder).out
    assert text.startswith("# Overview\n\n**3 clusters, 1 to look at; together ")
    rows = [line.split(" | ")[0].removeprefix("| ") for line in text.splitlines()[6:9]]
    assert rows == ["gamma", "alpha", "beta"]
    assert text.splitlines()[6].split(" | ")[1].endswith(" to remove")
    order = [text.index(f"\n# {name}\n") for name in rows]
    assert order == sorted(order)
    for name in ("alpha", "beta"):
        assert f"<details><summary>{name}: unchanged</summary>\n\n# {name}\n" in text
    assert "<details><summary>gamma" not in text


def test_the_sums_are_those_of_all(folder: Path, trainyard: Command) -> None:
    whole = trainyard("report", "specs", cwd=folder).out
    alone = trainyard("report", "specs/alpha.yaml", cwd=folder).out
    assert not alone.startswith("# Overview")
    one = float(alone.partition("**≈ $")[2].partition(" an hour always")[0])
    all_of_them = float(whole.partition("together ≈ $")[2].partition(" an hour always")[0])
    assert abs(all_of_them - 3 * one) < 0.03


def test_a_page_has_the_same(folder: Path, trainyard: Command) -> None:
    page = trainyard("report", "specs", "--format", "html", cwd=folder).out
    overview = page.index('<h2 id="overview">')
    order = [page.index(f'<h2 id="cluster-{name}">') for name in ("gamma", "alpha", "beta")]
    assert [overview, *order] == sorted([overview, *order])
    assert page.count('<details class="cluster">') == 2


def test_a_comment_begins_with_it(folder: Path, trainyard: Command) -> None:
    text = trainyard("report", "specs", "--limit", "10000", cwd=folder).out
    assert text.startswith("# Overview\n")
    assert len(text.encode()) <= 10_000


def test_a_cluster_in_error_has_a_row(folder: Path, trainyard: Command) -> None:
    (folder / "specs" / "beta.yaml").write_text(
        (folder / "specs" / "beta.yaml").read_text().replace("p4d.24xlarge", "p4d.24xlrge")
    )
    text = trainyard("report", "specs", cwd=folder).out
    assert "| beta | in error |  | 1 error |" in text
