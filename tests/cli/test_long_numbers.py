"""Numbers of thousands of digits: Python converts none of more than 4,300 by itself."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml
from builders import spec
from running import Command

pytestmark = pytest.mark.needs("lint")

NINES = "9" * 5000
POD = """\
apiVersion: v1
kind: Pod
metadata: {{name: a, namespace: x}}
spec:
  containers:
  - name: a
    image: "a:1"
    command: [torchrun, --nnodes={0}, --nproc-per-node={1}, train.py]
    env: [{{name: WORLD_SIZE, value: "{2}"}}, {{name: NCCL_BUFFSIZE, value: "{2}"}}]
    resources: {{limits: {{cpu: "{3}", nvidia.com/gpu: {4}}}}}
"""


@pytest.mark.parametrize("place", range(5))
def test_lint_judges_a_number_of_many_digits(
    place: int, tmp_path: Path, trainyard: Command
) -> None:
    numbers = ["1"] * 5
    numbers[place] = NINES
    (tmp_path / "pod.yaml").write_text(POD.format(*numbers))
    done = trainyard("lint", "pod.yaml", cwd=tmp_path)
    assert done.code in (0, 1)
    assert "INT0" not in done.out + done.err


def test_lint_judges_a_version_of_many_digits(tmp_path: Path, trainyard: Command) -> None:
    text = POD.format(1, 1, 1, 1, 1).replace("apiVersion: v1", f"apiVersion: v{NINES}")
    (tmp_path / "pod.yaml").write_text(text)
    done = trainyard("lint", "pod.yaml", cwd=tmp_path)
    assert "INT0" not in done.out + done.err


@pytest.mark.parametrize(
    "job",
    [
        {"nodes": int("9" * 4000)},
        {"command": ["torchrun", f"--nnodes={NINES}", "train.py"]},
        {"resources": {"cpu": NINES}},
        {"timeout": f"{NINES}h"},
        {"env": {"WORLD_SIZE": NINES}},
    ],
    ids=lambda job: next(iter(job)),
)
def test_check_judges_a_number_of_many_digits(
    job: dict[str, object], tmp_path: Path, trainyard: Command
) -> None:
    (tmp_path / "lab.yaml").write_text(yaml.safe_dump(spec(job=job)))
    done = trainyard("check", "lab.yaml", cwd=tmp_path)
    assert done.code in (0, 1)
    assert "INT0" not in done.out + done.err


def test_more_digits_than_can_be_read_are_an_error(tmp_path: Path, trainyard: Command) -> None:
    (tmp_path / "pod.yaml").write_text(POD.format(1, 1, "9" * 30_000, 1, 1))
    done = trainyard("lint", "pod.yaml", cwd=tmp_path)
    assert done.code == 1
    assert "error[YML024]" in done.out


@pytest.mark.parametrize("format", ["text", "json", "sarif", "github"])
@pytest.mark.parametrize(
    "job",
    [
        {"timeout": f"{NINES}h"},
        {"name": NINES},
        {"sharedMemory": f"{NINES}Gi"},
        {"nodes": int("9" * 4000)},
        {"command": ["torchrun", f"--nnodes={NINES}", "t.py"]},
        {"image": f"registry.test/{NINES}:1"},
    ],
)
def test_thousands_of_digits_are_not_printed(
    job: dict[str, object], format: str, tmp_path: Path, trainyard: Command
) -> None:
    (tmp_path / "lab.yaml").write_text(yaml.safe_dump(spec(job=job)))
    done = trainyard("check", "lab.yaml", "--format", format, cwd=tmp_path)
    assert done.code == 1
    assert "9" * 200 not in done.out + done.err
