"""What the example specs compile to: the same bytes on any machine, files that every reader reads the same.

`generated/` of this repository is held against `specs/` in tests/own.
"""

from __future__ import annotations

import json
import os
import re
import shutil
from collections.abc import Callable
from datetime import date
from functools import cache
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
import yaml
from ruamel.yaml import YAML
from running import EXAMPLE, SPECS, Command, contents, spawn
from trainyard.language.places import Route
from trainyard.output.emit.marker import is_marked
from trainyard.run import driver
from trainyard.run.outcome import Compilation, Options

pytestmark = pytest.mark.slow

CLUSTERS = (
    *("hyperpod-lora", "jakarta", "jakarta-slurm", "seoul-llm", "starter", "t5-large"),
    *("two-teams", "workshop", "workshop-h100"),
)
SOME = ("jakarta", "starter", "workshop", "workshop-h100")
"""Of a file, of a folder with a file for each job, and of one with two clusters and the programs that they run."""
DATE = date(2026, 11, 21)


@pytest.fixture(scope="module")
def generated(tmp_path_factory: pytest.TempPathFactory, compile_once: Callable[..., None]) -> Path:
    """The folder that the example specs were compiled into."""
    folder = tmp_path_factory.mktemp("fresh")
    shutil.copytree(SPECS, folder / "specs")
    compile_once(folder, "specs")
    return folder / "generated"


@pytest.fixture(scope="module")
def fresh(generated: Path) -> dict[str, bytes]:
    """Its files."""
    return contents(generated)


@pytest.fixture(scope="module")
def compilations() -> dict[str, Compilation]:
    done = driver.check([SPECS], Options(today=DATE))
    assert not done.failed
    return {each.name: each for each in done.compilations}


def test_every_spec_has_its_folder(generated: Path) -> None:
    assert sorted(path.name for path in generated.iterdir()) == list(CLUSTERS)


@pytest.mark.parametrize(
    ("hash_seed", "locale", "zone"),
    [
        ("0", "C", "UTC"),
        ("1", "tr_TR.UTF-8", "Asia/Tokyo"),
        ("4242", "C.UTF-8", "America/Los_Angeles"),
    ],
)
def test_the_same_bytes_on_any_machine(
    hash_seed: str, locale: str, zone: str, tmp_path: Path, fresh: dict[str, bytes]
) -> None:
    """Another folder, hash seed, locale, time zone and order of arguments."""
    shutil.copytree(SPECS, tmp_path / "specs")
    paths = sorted(
        (str(path.relative_to(tmp_path)) for path in (tmp_path / "specs").iterdir()), reverse=True
    )
    done = spawn(
        "compile",
        *paths,
        cwd=tmp_path,
        PYTHONHASHSEED=hash_seed,
        LC_ALL=locale,
        LANG=locale,
        TZ=zone,
        PYTHONUTF8="0",
    )
    assert done.code == 0, done.err
    assert contents(tmp_path / "generated") == fresh


def copy_some(folder: Path) -> None:
    """Copy the specs of a few clusters into a new folder."""
    for name in ("jakarta", "workshop"):
        shutil.copytree(SPECS / name, folder / name)
    shutil.copy(SPECS / "starter.yaml", folder)


def of_some(files: dict[str, bytes]) -> dict[str, bytes]:
    """Their files."""
    return {path: data for path, data in files.items() if path.partition("/")[0] in SOME}


def test_links_and_absolute_paths_do_not_matter(
    trainyard: Command, tmp_path: Path, fresh: dict[str, bytes]
) -> None:
    """Reached by a link, from elsewhere, or by its absolute path: the same spec is named."""
    wanted = of_some(fresh)
    copy_some(tmp_path / "real" / "specs")
    (tmp_path / "link").symlink_to("real")
    (tmp_path / "elsewhere").mkdir()
    for number, (cwd, given, output) in enumerate(
        (
            ("real", tmp_path / "link" / "specs", "generated"),
            ("elsewhere", "../link/specs", "../real/generated"),
            ("real", "specs", tmp_path / "link" / "generated"),
            ("link", "specs", tmp_path / "real" / "generated"),
        )
    ):
        done = trainyard("compile", given, "-o", output, cwd=tmp_path / cwd)
        assert (
            done.code,
            len(re.findall(" added$" if number == 0 else ": current, ", done.err, re.MULTILINE)),
        ) == (0, len(SOME))
        assert contents(tmp_path / "real" / "generated") == wanted


def test_the_order_of_files_does_not_matter(
    monkeypatch: pytest.MonkeyPatch, trainyard: Command, tmp_path: Path, fresh: dict[str, bytes]
) -> None:
    """A file system that lists folders the other way round; and a second run changes nothing."""
    listed = os.walk

    def backwards(*args: Any, **kwargs: Any) -> Any:
        for folder, folders, names in listed(*args, **kwargs):
            folders.reverse()
            names.reverse()
            yield folder, folders, names

    copy_some(tmp_path / "specs")
    with monkeypatch.context() as patched:
        patched.setattr(os, "walk", backwards)
        assert trainyard("compile", "specs", cwd=tmp_path).code == 0
    assert contents(tmp_path / "generated") == of_some(fresh)
    done = trainyard("compile", "specs", cwd=tmp_path)
    assert re.findall(r": (\w+), ", done.err) == ["current"] * len(SOME)


@pytest.mark.parametrize("cluster", CLUSTERS)
def test_every_reader_reads_the_same_object(
    cluster: str, compilations: dict[str, Compilation], generated: Path
) -> None:
    """YAML 1.1 (PyYAML), YAML 1.2 (ruamel) and the object itself."""
    for manifest in compilations[cluster].manifests:
        text = (generated / cluster / manifest.path).read_text(encoding="utf-8")
        plain = json.loads(json.dumps(manifest.body))
        assert yaml.load(text, Loader=yaml.CSafeLoader) == plain, manifest.path
        assert of_ruamel(text) == plain, manifest.path


@cache
def of_ruamel(text: str) -> Any:
    """What ruamel reads. Clusters share many files, and it takes its time."""
    return YAML(typ="safe", pure=True).load(StringIO(text))


def test_files_are_plain_text_with_one_object_each(generated: Path) -> None:
    files = sorted(generated.rglob("*.yaml"))
    assert files
    for path in files:
        data = path.read_bytes()
        assert b"\r" not in data
        assert data.endswith(b"\n")
        assert not data.endswith(b"\n\n")
        assert b"\n---" not in data
        assert not re.search(rb"[ \t]$", data, re.MULTILINE), path
        if path.parent.name in ("bootstrap", "stacks") or "cluster" in path.parts[-3:-1]:
            continue  # eksctl's, CloudFormation's and ParallelCluster's files are no objects
        kind = re.search(rb"^kind: (\S+)", data, re.MULTILINE)
        name = re.search(rb"^  name: (\S+)", data, re.MULTILINE)
        assert kind is not None
        assert name is not None
        ending = f"{kind[1].decode().lower()}-{name[1].decode()}.yaml"
        assert re.fullmatch(rf"([a-z0-9-]+\.)?{re.escape(ending)}", path.name)


@pytest.mark.parametrize("cluster", CLUSTERS)
def test_every_file_says_whose_it_is(cluster: str, generated: Path) -> None:
    """By a line with its own path; and nothing there knows a line of the spec or a digest of a file."""
    for path, data in contents(generated / cluster).items():
        assert is_marked(path, data), path
    head = json.loads((generated / cluster / ".manifest.json").read_text(encoding="utf-8"))
    assert list(head) == ["trainyard.dev/file", "spec", "cluster", "release", "trainyard", "facts"]
    assert (EXAMPLE / head["spec"]).is_file()


@pytest.mark.parametrize("cluster", CLUSTERS)
def test_every_field_with_a_place_is_there(
    cluster: str, compilations: dict[str, Compilation], generated: Path
) -> None:
    """Every object is written, and has a line of the spec; so has every field of it that one is known of."""
    done = compilations[cluster]
    assert sorted(each.path for each in done.manifests) == sorted(
        path.relative_to(generated / cluster).as_posix()
        for path in (generated / cluster).rglob("*.yaml")
        if path.name != "stack.yaml"
        and path.parent.name != "stacks"
        and path.parts[-2:] != ("bootstrap", "cluster.yaml")
    )
    for manifest in done.manifests:
        for route in (manifest.at, *manifest.places().values()):
            span = done.document.span(route)
            assert (
                1 <= span.line <= len(Path(span.file.name).read_text(encoding="utf-8").splitlines())
            )


@pytest.mark.parametrize(
    ("cluster", "name", "field", "line"),
    [
        ("seoul-llm", "NodePool/a100", "spec.replicas", "nodes: 4"),
        (
            "seoul-llm",
            "NodePool/a100",
            "spec.template.spec.requirements[1]",
            "zones: [ap-northeast-2b]",
        ),
        ("seoul-llm", "EC2NodeClass/a100", "spec.placementGroupSelector", "placement: cluster"),
        ("seoul-llm", "TrainJob/team-a/llama3-8b-fsdp-*", "spec.trainer.image", "image: 1111"),
        ("seoul-llm", "TrainJob/team-a/llama3-8b-fsdp-*", "spec.trainer.numNodes", "nodes: 4"),
        (
            "seoul-llm",
            "PersistentVolume/team-a-checkpoints",
            "spec.capacity.storage",
            "size: 38400Gi",
        ),
        ("jakarta", "TrainJob/models/timor-*", "spec.trainer.numNodes", "nodes: 14"),
        (
            "jakarta",
            "EC2NodeClass/h200-cr-0a1b2c3d4e5f60714",
            "spec.capacityReservationSelectorTerms",
            "nodes: 16",
        ),
        ("jakarta", "NodePool/h200-cr-0a1b2c3d4e5f60713", "spec.replicas", "nodes: 64"),
        (
            "two-teams",
            "ClusterQueue/team-b",
            "spec.resourceGroups[0].flavors[0].resources[0].nominalQuota",
            "borrowingLimit: 8",
        ),
    ],
)
def test_fields_point_at_their_line(
    cluster: str, name: str, field: str, line: str, compilations: dict[str, Compilation]
) -> None:
    """The field, or the nearest one above that has a line of its own, leads to the line that says it."""
    done = compilations[cluster]
    (manifest,) = [
        each for each in done.manifests if re.fullmatch(name.replace("*", r"\w{5}"), str(each.ref))
    ]
    fields = {str(Route(path)): route for path, route in manifest.places().items()}
    found = manifest.at
    parts = re.split(r"(?=[.\[])", field)
    for end in range(1, len(parts) + 1):
        found = fields.get("".join(parts[:end]), found)
    span = done.document.span(found)
    assert line in Path(span.file.name).read_text(encoding="utf-8").splitlines()[span.line - 1]


def test_one_example_has_all_that_watches_a_cluster() -> None:
    """What no example has, nobody sees before it is needed."""
    spec = yaml.safe_load((SPECS / "jakarta" / "cluster.yaml").read_text())["spec"]
    assert {"monitoring", "logs", "notifications", "secrets"} <= spec.keys()
    assert "openCost" in spec["monitoring"]
    receivers = {receiver["name"] for receiver in spec["notifications"]["receivers"]}
    named = spec["notifications"]
    assert receivers == {
        named["default"],
        named["critical"],
        named["flux"],
        *named["teams"].values(),
    }
