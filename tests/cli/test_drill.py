"""A drill is one Job that passes our own lint, and says what must follow; where nothing would follow there is none."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import yaml
from builders import spec
from running import Command

pytestmark = pytest.mark.needs("forecast")

NODE = "ip-10-0-12-34.us-west-2.compute.internal"


@pytest.fixture
def lab(tmp_path: Path) -> Path:
    (tmp_path / "lab.yaml").write_text(yaml.safe_dump(spec()))
    return tmp_path


@pytest.mark.slow
def test_the_job_writes_what_the_detector_reads(trainyard: Command, lab: Path) -> None:
    """The line is matched by the detector's own pattern, as it stands in the committed ConfigMap."""
    done = trainyard("drill", "lab.yaml", "--node", NODE, cwd=lab)
    assert done.code == 0
    pod = yaml.safe_load(done.out)["spec"]["template"]["spec"]
    assert pod["nodeSelector"] == {"kubernetes.io/hostname": NODE}
    (container,) = pod["containers"]
    trainyard("compile", "lab.yaml", cwd=lab)
    (detector,) = lab.glob("generated/*/health/*.configmap-node-problem-detector.yaml")
    data = yaml.safe_load(detector.read_text())["data"]
    rules = yaml.safe_load(data["gpu-xid.json"])["rules"]
    assert [rule["type"] for rule in rules] == ["permanent"]
    assert re.search(rules[0]["pattern"], container["command"][-1])


def test_it_says_what_must_follow(trainyard: Command, lab: Path) -> None:
    comments = trainyard("drill", "lab.yaml", "--node", NODE, cwd=lab).out
    for part in ("GpuXidFatal", "trainyard.dev/gpu-xid-fatal:NoSchedule", NODE):
        assert part in comments


def test_it_passes_lint(trainyard: Command, lab: Path) -> None:
    done = trainyard("drill", "lab.yaml", "--node", NODE, cwd=lab)
    (lab / "drill.yaml").write_text(done.out)
    lint = trainyard("lint", "--fail-on", "note", "drill.yaml", cwd=lab)
    assert lint.code == 0, lint.out


@pytest.mark.parametrize(
    ("words", "reported"),
    [
        (("lab.yaml", "--node", NODE, "--xid", "13"), "Xid 13 is not fatal"),
        (("lab.yaml", "--node", "no node"), "`no node` is no name of a node"),
        (("off.yaml", "--node", NODE), "nothing in this cluster reads"),
        (("lab.yaml", "off.yaml", "--node", NODE), "one cluster"),
        (("lab.yaml",), "--node"),
    ],
)
def test_without_a_detector_there_is_none(
    trainyard: Command, lab: Path, words: tuple[str, ...], reported: str
) -> None:
    off = spec(health={"nodeProblemDetector": False})
    off["metadata"]["name"] = "off"
    (lab / "off.yaml").write_text(yaml.safe_dump(off))
    done = trainyard("drill", *words, cwd=lab)
    assert done.code == 2
    assert reported in done.err
    assert done.out == ""


def test_a_spec_in_error_has_none(trainyard: Command, lab: Path) -> None:
    (lab / "lab.yaml").write_text(yaml.safe_dump(spec(region="mars")))
    done = trainyard("drill", "lab.yaml", "--node", NODE, cwd=lab)
    assert (done.code, done.out) == (1, "")
