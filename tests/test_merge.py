"""Two branches whose specs merge also merge in `generated/`, and what they merge to is what `compile` makes."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from drawn import drawn
from merging import HEAD, Merge, Repository, files, merges
from running import contents

pytestmark = pytest.mark.slow

BASES, PAIRS = 6, 5


def summaries(found: Merge) -> str:
    return f"{found.edits}: {found.conflicts} {found.code} {found.stale} {found.findings}"


def takes_away(edit: str) -> bool:
    """Whether an edit removes something, itself or what it was the last to use."""
    word, _, *fields = edit.split()
    return word == "remove" or (word == "change" and fields in ([], ["done"], ["namespaces"]))


def is_told_rightly(found: Merge, *, queues: bool) -> bool:
    """Whether merged output that is stale is so because one branch takes away what the other uses.

    One more pair is known: a namespace and a pool that are added where the spec has no queues, since each pool has a
    queue in each namespace (docs/adr/0009).
    """
    if found.code != 3 or any(takes_away(edit) for edit in found.edits):
        return found.code in (0, 1, 3)
    return not queues and all(".localqueue-" in each for each in found.stale)


@pytest.mark.parametrize("number", drawn(range(BASES), 2))
def test_pairs_of_edits_merge(number: int, tmp_path: Path) -> None:
    """More of them: `benchmarks/merges.py`."""
    queues = number % 3 != 2
    chance = random.Random(f"tests-{number}")
    repository = Repository(tmp_path / "r", chance, in_folder=number % 2 == 0, queues=queues)
    ended = [repository.merge() for _ in range(PAIRS)]
    for found in ended:
        if not any(path.startswith("specs/") for path in found.conflicts):
            assert found.conflicts == [], summaries(found)
            assert is_told_rightly(found, queues=queues), summaries(found)
    assert sum(found.code == 0 for found in ended) >= PAIRS // 2  # the test is about something


@pytest.fixture(scope="module")
def one(tmp_path_factory: pytest.TempPathFactory) -> Repository:
    folder = tmp_path_factory.mktemp("one") / "r"
    return Repository(folder, random.Random("one"), in_folder=True, queues=True)


@pytest.fixture
def made(one: Repository, tmp_path: Path) -> Repository:
    """A copy of it."""
    return one.copied(tmp_path / "r")


@pytest.mark.parametrize("seed", range(6))
def test_comments_and_blank_lines_change_no_byte(seed: int, made: Repository) -> None:
    """Wherever they stand between the lines of a spec."""
    before, chance = contents(made.folder / "generated"), random.Random(seed)
    for path in sorted((made.folder / "specs").rglob("*.yaml")):
        lines = path.read_text().splitlines(keepends=True)
        for _ in range(8):
            lines.insert(
                chance.randrange(len(lines) + 1),
                chance.choice(["\n", "# why\n", "    # because\n"]),
            )
        path.write_text("".join(lines))
    assert made.compile() == 0
    assert contents(made.folder / "generated") == before


def test_after_a_conflict_in_a_spec_compile_alone_is_enough(made: Repository) -> None:
    """Two branches start another run of the same job: the spec conflicts, and so may what was made of it."""
    job = min(made.spec["jobs"])
    commits = []
    for seed in (1, 2):
        made.git("checkout", "--quiet", "--force", "main")
        spec = made.spec | {
            "jobs": {
                **made.spec["jobs"],
                job: {
                    **made.spec["jobs"][job],
                    "command": ["torchrun", "train.py", f"--seed={seed}"],
                    "rerun": 1,
                },
            }
        }
        made.write(spec)
        assert made.compile() == 0
        made.git("checkout", "--quiet", "--detach")
        commits.append(made.commit(str(seed)))
    made.git("merge", "--quiet", commits[0], check=False)
    conflicts = made.git("diff", "--name-only", "--diff-filter=U").split()
    assert f"specs/jobs/{job}.yaml" in conflicts
    made.git("checkout", "--theirs", "--", f"specs/jobs/{job}.yaml")
    assert made.compile() == 0
    assert made.check()[:2] == (0, [])
    assert not any(b"<<<<<<<" in data for data in contents(made.folder / "generated").values())


def test_both_forms_of_a_spec_say_the_same(made: Repository) -> None:
    one = files(made.spec, folder=False)
    assert list(one) == ["cluster.yaml"]
    assert one["cluster.yaml"].startswith(HEAD)
    before = contents(made.folder / "generated")
    made.in_folder = False
    made.write(made.spec)
    assert made.compile() == 0
    assert contents(made.folder / "generated") == before


def test_pairs_are_the_same_in_every_run(tmp_path: Path) -> None:
    first, second = (list(merges(tmp_path / name, 7, 1, 2)) for name in ("a", "b"))
    assert first == second
