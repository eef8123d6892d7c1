"""What inputs are made from: every spec and every manifest of the repository, and every example of a rule."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import Any

import yaml
from trainyard.judge.policy.load import load_rules
from trainyard.run.examples.rehearse import SLURM, base_set, base_spec, merged, overlaid

from tests.platforms.parallelcluster.test_scripts import HARD
from tests.policy.test_platforms import CLUSTER, SCRIPTS

ROOT = Path(__file__).resolve().parent.parent.parent
TESTS = ROOT / "tests"

MOST = 60_000
"""Characters of a seed: a larger one is slow to judge, and has nothing that smaller ones do not have."""
_SPEC = "kind: TrainingCluster"


@dataclass(frozen=True)
class Seed:
    """A text that is judged without a crash, and the command that judges it.

    ``path``: where it lies below ``specs/``, where it needs the files beside it.
    """

    command: str
    name: str
    text: str
    path: Path | None = None

    @cached_property
    def documents(self) -> list[Any]:
        """Its values; none where it is no YAML that everybody reads."""
        try:
            return list(yaml.load_all(self.text, yaml.CSafeLoader))
        except (yaml.YAMLError, ValueError):
            return []


@cache
def all_seeds(*folders: Path) -> dict[str, list[Seed]]:
    """The seeds of each command. ``folders`` are further ones with manifests."""
    found = [*_specs(), *_cases(), *_examples(), *_of_slurm(), *_manifests(folders)]
    return {
        command: [seed for seed in found if seed.command == command]
        for command in ("check", "lint")
    }


def _specs() -> Iterator[Seed]:
    for file in _files(ROOT / "specs"):
        text = _read(file)
        if file.parent.name != "code":
            yield Seed("check", _name(file), text, file.relative_to(ROOT / "specs"))


def _cases() -> Iterator[Seed]:
    """Specs that tests have of their own, good and bad."""
    for folder in ("bad_input/cases", "scenarios", "policy/faults/specs"):
        for file in _files(TESTS / folder):
            text = _read(file)
            if _SPEC in text and len(text) < MOST:
                yield Seed("check", _name(file), text)


def _examples() -> Iterator[Seed]:
    rules, _ = load_rules(None)
    for rule in rules:
        for number, text in enumerate((*rule.fails, *rule.passes)):
            name = f"{rule.slug}-{number}"
            if SLURM.search(text):
                yield from _parts(name, text)
                continue
            seed = _example(name, text)
            if seed is not None:
                yield seed


def _example(name: str, text: str) -> Seed | None:
    """An example of a rule as a whole spec, or as manifests that say all that they need."""
    try:
        documents = [each for each in yaml.load_all(text, Loader=yaml.CSafeLoader) if each]
    except yaml.YAMLError:
        return Seed("lint", name, text)
    if not documents or not all(isinstance(each, dict) for each in documents):
        return Seed("lint", name, text)
    if "kind" in documents[0]:
        base = list(base_set())
        changed = [each for each in overlaid(base, documents) if each not in base]
        return Seed("lint", name, _dumped(changed))
    if "Resources" in documents[0]:
        return Seed("lint", name, text)
    spec = merged(base_spec(), {"spec": documents[0]})
    return Seed("check", name, _dumped([spec]))


SCRIPT = ".sbatch"


def _of_slurm() -> Iterator[Seed]:
    """Batch scripts and configurations of ParallelCluster: ours, and those that tests have."""
    for file in sorted(ROOT.joinpath("generated").rglob(f"*{SCRIPT}")):
        yield Seed("lint", _name(file), _read(file))
    for code, (script, _) in SCRIPTS.items():
        if len(script) < MOST:
            yield Seed("lint", f"slurm-{code}{SCRIPT}", script)
    yield Seed("lint", "slurm-cluster", CLUSTER)
    yield Seed("lint", f"slurm-hard{SCRIPT}", HARD)
    for file in _files(ROOT / "generated"):
        text = _read(file)
        if "HeadNode:" in text:
            yield Seed("lint", f"{_name(file)}-slurm", text)


def _parts(name: str, text: str) -> Iterator[Seed]:
    """The scripts and configurations of an example."""
    for number, part in enumerate(re.split(r"^---\n", text, flags=re.MULTILINE)):
        suffix = SCRIPT if part.startswith("#!") else ""
        yield Seed("lint", f"slurm-{name}-{number}{suffix}", part)


def _manifests(folders: Sequence[Path]) -> Iterator[Seed]:
    own = [ROOT / "generated", TESTS / "lint_sets", TESTS / "cli" / "lint"]
    own.append(TESTS / "policy" / "faults" / "manifests")
    for folder in [*own, *folders]:
        for file in _files(folder):
            text = _read(file)
            if "kind:" in text and len(text) < MOST:
                yield Seed("lint", _name(file), text)


def _files(folder: Path) -> list[Path]:
    return sorted([*folder.rglob("*.yaml"), *folder.rglob("*.yml")])


def _name(file: Path) -> str:
    return str(file.relative_to(ROOT)) if file.is_relative_to(ROOT) else file.name


def _read(file: Path) -> str:
    return file.read_text(encoding="utf-8")


def _dumped(documents: Sequence[Any]) -> str:
    text: str = yaml.dump_all(documents, Dumper=yaml.CSafeDumper, sort_keys=False)
    return text
