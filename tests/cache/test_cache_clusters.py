"""Of several clusters only those that were edited are judged; and after any edit a run says what one without a cache
says."""

from __future__ import annotations

import json
import random
import shutil
from pathlib import Path

import pytest
from asking import STARTER, Asker
from drawn import drawn
from running import EXAMPLE, SPECS

pytestmark = pytest.mark.slow

NAMES = ("one", "two", "three")
EDITED = ("hyperpod-lora.yaml", "jakarta-slurm.yaml", "starter.yaml")
"""One of each platform: after an edit all of them are judged anew to compare."""
JOB = (
    "apiVersion: trainyard.dev/v1alpha1\nkind: TrainingJob\nmetadata: {name: more}\n"
    "spec: {nodes: 1, timeout: 1h, image: public.ecr.aws/a/b:1.0, command: [python, train.py]}\n"
)


def _spec(name: str, more: str = "") -> str:
    return STARTER.replace("name: starter", f"name: {name}").replace("command:", f"{more}command:")


@pytest.fixture
def several(tmp_path: Path) -> Asker:
    """Three clusters: one clean, one with a warning, one with an error."""
    asker = Asker(tmp_path)
    (asker.folder / ".git").mkdir()
    asker.write("specs/one.yaml", _spec("one"))
    asker.write("specs/two.yaml", _spec("two", 'env: {CUDA_LAUNCH_BLOCKING: "1"}, '))
    asker.write("specs/three.yaml", _spec("three", "env: {NCCL_NET: Socket}, "))
    return asker


def _clusters(asker: Asker) -> dict[str, int]:
    """When the entry of each cluster was written, by what it saw."""
    found = {}
    for path in asker.entries():
        _, _, text = path.read_bytes().partition(b"\n")
        entry = json.loads(text)
        if isinstance(entry, dict) and "found" in entry:
            found[path.name] = path.stat().st_mtime_ns
    return found


def test_each_cluster_has_an_entry(several: Asker) -> None:
    several.ask("check", "specs")
    before = _clusters(several)
    assert len(before) == len(NAMES)
    several.write("specs/one.yaml", _spec("one", "env: {A: b}, "))
    done = several.ask("check", "specs")
    assert done == several.anew("check", "specs")
    after = _clusters(several)
    assert len(after.keys() - before.keys()) == 1
    assert {name: after[name] for name in before} == before


def test_a_cluster_that_is_written_has_an_entry_when_nothing_is_left_to_write(
    several: Asker,
) -> None:
    several.write("specs/three.yaml", _spec("three"))
    several.write("specs/two.yaml", _spec("two"))
    several.ask("compile", "specs")
    several.write("specs/one.yaml", _spec("one", "env: {A: b}, "))
    several.ask("compile", "specs")
    written = _clusters(several)
    assert len(written) == len(NAMES) - 1
    several.write("specs/one.yaml", _spec("one", "env: {A: c}, "))
    done = several.ask("compile", "specs")
    assert done == several.anew("compile", "specs")
    after = _clusters(several)
    assert {name: after[name] for name in written} == written


def test_findings_of_other_clusters_are_said_again(several: Asker) -> None:
    several.ask("check", "specs")
    several.write("specs/one.yaml", _spec("one", "env: {A: b}, "))
    for form in ("text", "json", "sarif"):
        done = several.ask("check", "specs", "--format", form)
        assert not done.repeated
        assert done == several.anew("check", "specs", "--format", form)
        assert "RUN124" in done.out


def test_a_cluster_is_written_anew_where_its_folder_changed(several: Asker) -> None:
    several.write("specs/three.yaml", _spec("three"))
    several.ask("compile", "specs")
    several.ask("compile", "specs")
    file = min((several.folder / "generated" / "two").rglob("*.yaml"))
    text = file.read_text()
    file.write_text(text + "# by hand\n")
    done = several.ask("compile", "specs")
    assert "two: 1 changed" in done.err
    assert file.read_text() == text
    assert several.ask("compile", "specs") == several.anew("compile", "specs")


def test_policies_are_every_clusters(several: Asker) -> None:
    several.ask("check", "specs")
    several.write("policies/policy.yaml", "levels: {RUN124: error}\n")
    done = several.ask("check", "specs")
    assert done == several.anew("check", "specs")
    assert "error[RUN124]" in done.out


def test_an_exception_that_nobody_needs(several: Asker) -> None:
    """It is called unused only where all clusters were judged, now or before."""
    until = "2999-12-31"
    several.write(
        "policies/exceptions.yaml",
        f'- {{code: RUN001, object: "*", reason: old, until: {until}}}\n',
    )
    several.write("specs/three.yaml", _spec("three"))
    several.ask("check", "specs")
    several.write("specs/one.yaml", _spec("one", "env: {A: b}, "))
    done = several.ask("check", "specs")
    assert done == several.anew("check", "specs")
    assert "POL001" in done.out


def test_what_stands_in_the_same_file_is_part_of_a_cluster(several: Asker) -> None:
    """A second cluster beside it takes a job from a cluster whose file did not change."""
    job = (
        "---\napiVersion: trainyard.dev/v1alpha1\nkind: TrainingJob\nmetadata: {name: more}\n"
        "spec: {nodes: 1, timeout: 1h, image: public.ecr.aws/a/b:1.0, command: [python]}\n"
    )
    several.write("specs/deep/four.yaml", _spec("four"))
    several.write("specs/deep/job.yaml", job.removeprefix("---\n"))
    several.ask("check", "specs")
    several.write("specs/deep/five.yaml", _spec("five"))
    done = several.ask("check", "specs")
    assert done == several.anew("check", "specs")
    assert "YML042" in done.out


def _edits(folder: Path, chance: random.Random) -> None:
    """One edit of something that a run reads."""
    files = sorted(
        path
        for top in ("specs", "policies", "generated", "extra")
        for path in (folder / top).rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    )
    file = chance.choice(files)
    what = chance.choice(("line", "letter", "remove", "copy", "append", "folder"))
    data = file.read_bytes()
    lines = data.splitlines(keepends=True)
    if what == "line" and lines:
        del lines[chance.randrange(len(lines))]
        file.write_bytes(b"".join(lines))
    elif what == "letter" and data:
        place = chance.randrange(len(data))
        file.write_bytes(data[:place] + chance.choice((b"x", b" ", b"0")) + data[place + 1 :])
    elif what == "remove":
        file.unlink()
    elif what == "copy":
        shutil.copy(file, file.with_name(f"a{file.name}"))
    elif what == "folder":
        (file.parent / f"new{chance.randrange(9)}").mkdir(exist_ok=True)
    else:
        file.write_bytes(data + b"\n# edited\n")


@pytest.mark.parametrize("seed", drawn(range(6), 2))
def test_after_any_edit_it_says_what_a_run_without_a_cache_says(tmp_path: Path, seed: int) -> None:
    chance = random.Random(seed)
    asker = Asker(tmp_path)
    (asker.folder / "specs").mkdir()
    for name in EDITED:
        shutil.copy(SPECS / name, asker.folder / "specs" / name)
    asker.write("specs/folder/cluster.yaml", _spec("folder"))
    asker.write("specs/folder/jobs/more.yaml", JOB)
    shutil.copytree(EXAMPLE / "policies", asker.folder / "policies")
    (asker.folder / ".git").mkdir()
    asker.ask("compile", "specs")
    for _ in range(4):
        words = chance.choice((("check", "specs"), ("compile", "--check", "specs")))
        asker.ask(*words)
        _edits(asker.folder, chance)
        anew = asker.anew(*words)
        assert asker.ask(*words) == anew
        assert asker.ask(*words) == anew
