"""What a container of ours touches is there: each path of its commands and variables lies in one of its mounts, or the
container has it by itself.

Walked are all pods that the shipped specs, the clusters of all platforms' sections (``platforms/wide``) and those of
every pair of features are compiled to, and jobs of images that are built here.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import yaml
from drawn import at_least, drawn
from running import SPECS
from trainyard.catalog import load_catalog
from trainyard.core.pods.plan import Pod
from trainyard.judge.model.reading import Reading
from trainyard.run.driver import check
from trainyard.run.outcome import Compilation, Options
from trainyard.run.platforms import PLATFORMS
from trainyard.verify.formats import objects

from subjects.test_images import built, compiled, recipe_of, repository, with_images
from subjects.test_owning import DISK, EXISTING, NEW
from tests.platforms.wide import TEXTS, wide
from tests.policy.several import pods_in
from tests.test_pairs_of_features import clusters, spec_of

pytestmark = pytest.mark.slow

PATH = re.compile(r"(?<![\w.:@$/})*-])/(?:[\w.@-]+/)*[\w.@-]+")
"""An absolute path in a text: no part of a URL, of another path, or of a variable's value."""
ITS_OWN: Mapping[str, str] = {
    "/bin/sh": "every image of ours has a shell",
    "/bin/bash": "the image of the burn-in has it",
    "/dev/null": "every container has it",
    "/node-problem-detector": "the program of its image",
    "/opt/amazon/ofi-nccl": "the image of the burn-in has the EFA plugin there",
    "/run/sshd": "its own command makes it, as root",
    "/tmp": "a container may write to its own disk, unless that is read-only",
    "/workspace": "where the images of the examples have the program that a spec names",
    "/usr/sbin/sshd": "the image of an MPI job has it, as `launcher.mpi.sshd` says",
}
"""Paths below these are no volume's, and why they are there."""
CASES = [
    *sorted(path for path in SPECS.iterdir() if path.suffix == ".yaml" or path.is_dir()),
    *sorted((Path(__file__).parent.parent / "scenarios").glob("*.yaml")),
]


class Touched(NamedTuple):
    """A container: its object and name, what it runs and is told, and its mounts."""

    name: str
    texts: tuple[str, ...]
    mounts: tuple[str, ...]
    read_only: bool = False


def of_body(owner: str, container: Mapping[str, Any]) -> Touched:
    """A container of an object, with its hooks and probes."""
    texts = [*container.get("command", ()), *container.get("args", ())]
    texts += [each.get("value", "") for each in container.get("env", ())]
    hooks = [container.get(key, {}) for key in ("livenessProbe", "readinessProbe", "startupProbe")]
    for hook in (*container.get("lifecycle", {}).values(), *hooks):
        texts += hook.get("exec", {}).get("command", ())
    return Touched(
        f"{container['name']} of {owner}",
        tuple(map(str, texts)),
        tuple(each["mountPath"] for each in container.get("volumeMounts", ())),
        container.get("securityContext", {}).get("readOnlyRootFilesystem") is True,
    )


def of_pod(owner: str, pod: Pod) -> Iterator[Touched]:
    """The containers of a job, as its runtime and its own patches make them together."""
    for each in pod.all_containers:
        values = [variable.value or "" for variable in each.env]
        yield Touched(
            f"{each.name} of {owner}",
            (*each.command, *each.args, *each.pre_stop, *values),
            tuple(mount.path for mount in each.mounts),
        )


def is_below(path: str, folder: str) -> bool:
    return path == folder or path.startswith(f"{folder.rstrip('/')}/")


def elsewhere(container: Touched) -> Iterator[str]:
    """The paths that a container touches and does not have."""
    for text in container.texts:
        for path in PATH.findall(text):
            own = any(is_below(path, folder) for folder in ITS_OWN)
            if container.read_only and is_below(path, "/tmp"):
                own = False
            if not own and not any(is_below(path, folder) for folder in container.mounts):
                yield path


def containers_of(compilation: Compilation) -> Iterator[Touched]:
    assert compilation.plan is not None
    manifests = objects(compilation.artifacts)
    for work in Reading(compilation.plan, load_catalog(), manifests).works:
        pods = [pod for _, pod, _ in work.others]
        for pod in (*pods, work.pod):
            if pod is not None:
                yield from of_pod(work.title, pod)
    for manifest in manifests:
        if manifest.ref.kind not in ("ClusterTrainingRuntime", "TrainJob"):
            for body in pods_in(manifest.body):
                for container in (*body.get("initContainers", ()), *body["containers"]):
                    yield of_body(manifest.id, container)


def judged(compilations: Iterator[Compilation]) -> int:
    """How many containers were read, each of which has what it touches."""
    read = 0
    for compilation in compilations:
        for container in containers_of(compilation):
            read += 1
            assert list(elsewhere(container)) == [], container
    return read


def of_specs(specs: Iterator[dict[str, Any]], folder: Path) -> Iterator[Compilation]:
    for spec in specs:
        file = folder / "spec.yaml"
        file.write_text(yaml.safe_dump(spec, sort_keys=False))
        for each in check([file], Options(hold=False)).compilations:
            if each.plan is not None:
                yield each


def test_containers_of_shipped_specs_have_what_they_touch() -> None:
    outcomes = (check([path], Options(hold=False)) for path in drawn(CASES, 12))
    assert judged(each for outcome in outcomes for each in outcome.compilations) >= at_least(60)


def test_containers_of_every_section_have_what_they_touch(tmp_path: Path) -> None:
    for name, text in TEXTS.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    specs = [each for name in ("eks", "hyperPod") for each in wide(PLATFORMS[name]).values()]
    walked = drawn(specs, len(specs) // 2)
    assert judged(of_specs(iter(walked), tmp_path)) >= at_least(60)


def test_containers_of_every_pair_of_features_have_what_they_touch(tmp_path: Path) -> None:
    assert judged(of_specs(map(spec_of, clusters()), tmp_path)) > 50


@pytest.mark.parametrize("storage", [NEW, EXISTING, DISK], ids=["new", "existing", "disk"])
def test_containers_of_images_that_are_built_here_have_what_they_touch(
    storage: dict[str, Any], tmp_path: Path
) -> None:
    mounts = [{"storage": "data", "path": "/data"}]
    job = {"image": "train", "mounts": mounts, "checkpoint": {"path": "/data/run"}}
    fleet = repository(tmp_path / "fleet", with_images(storage=[storage], job=job))
    built(fleet, "train", recipe_of(compiled(fleet), "train"))
    assert judged(iter([compiled(fleet)])) >= 1


def test_what_is_not_mounted_is_seen() -> None:
    container = {
        "name": "owner",
        "command": ["sh", "-c", "chown 1:1 /data/run && ls '/data' > /tmp/log"],
        "volumeMounts": [{"mountPath": "/data/other"}],
        "securityContext": {"readOnlyRootFilesystem": True},
    }
    assert list(elsewhere(of_body("a", container))) == ["/data/run", "/data", "/tmp/log"]
