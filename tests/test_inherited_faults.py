"""What jobs inherit is said once, where it is written, with the number of the jobs besides the first."""

from __future__ import annotations

from datetime import date
from pathlib import Path
from typing import Any

import yaml
from builders import spec
from trainyard.language.diagnostics import Diagnostic
from trainyard.run.driver import check
from trainyard.run.outcome import Options

OPTIONS = Options(today=date(2026, 11, 23))
MORE = "more are so by this key"


def found(folder: Path, code: str, defaults: dict[str, Any], **own: Any) -> list[Diagnostic]:
    """The findings of a code in three jobs that inherit; ``own``: what the last of them says itself."""
    data = spec()
    (job,) = data["spec"]["jobs"]
    data["spec"]["jobDefaults"] = defaults
    jobs = [{**job, "name": name} for name in ("first", "second", "third")]
    data["spec"]["jobs"] = [*jobs[:2], {**jobs[2], **own}]
    file = folder / "lab.yaml"
    file.write_text(yaml.safe_dump(data, sort_keys=False))
    return [each for each in check([file], OPTIONS).all() if each.code == code]


def test_what_rules_find_in_an_inherited_value(tmp_path: Path) -> None:
    env = {"NCCL_P2P_DISABLE": "1"}
    (finding,) = found(tmp_path, "RUN124", {"env": env})
    assert "job `first`" in finding.message
    assert f"2 {MORE}" in finding.notes
    inherited, own = found(tmp_path, "RUN124", {"env": env}, env={"NCCL_P2P_DISABLE": "1"})
    assert "1 more is so by this key" in inherited.notes
    assert "job `third`" in own.message
    assert not any("by this key" in note for note in own.notes)


def test_what_cannot_be_resolved_in_an_inherited_value(tmp_path: Path) -> None:
    mounts = [{"storage": "nowhere", "path": "/data"}]
    (finding,) = found(tmp_path, "RES012", {"mounts": mounts})
    assert not any(MORE in note for note in finding.notes)
    faults = found(tmp_path, "RES012", {"mounts": mounts}, mounts=[dict(mounts[0])])
    assert [str(each.at) for each in faults] == [
        "spec.jobs[0].mounts[0].storage",
        "spec.jobs[2].mounts[0].storage",
    ]


def test_two_inherited_values_are_two(tmp_path: Path) -> None:
    mounts = [{"storage": name, "path": f"/{name}"} for name in ("here", "there")]
    assert len(found(tmp_path, "RES012", {"mounts": mounts})) == 2


def test_what_pools_inherit_is_said_once(tmp_path: Path) -> None:
    """Where the first pool says it; another value of the second pool is a finding of its own."""

    def small(**own: Any) -> list[Diagnostic]:
        first = {"localStorage": "none", "rootVolume": {"size": "21Gi"}}
        data = spec(pool=first, jobs=[])
        data["spec"]["nodePools"].append({"name": "second", "extends": "gpu", **own})
        file = tmp_path / "lab.yaml"
        file.write_text(yaml.safe_dump(data, sort_keys=False))
        return [each for each in check([file], OPTIONS).all() if each.code == "LIM039"]

    (inherited,) = small()
    assert "1 more is so by this key" in inherited.notes
    one, other = small(rootVolume={"size": "22Gi"})
    assert not any("by this key" in note for note in (*one.notes, *other.notes))
    assert other.span is not None
    assert one.span is not None
    assert other.span.line > one.span.line
