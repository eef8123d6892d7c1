"""Edits that change versions: what restarts, what people do, what is refused."""

from __future__ import annotations

import re
import shutil
from pathlib import Path
from typing import Any

import pytest
from builders import (
    OLD_TRAINER,
    PAIR,
    RELEASE,
    components,
    listed_versions,
    manifests_of,
    plan_of,
    spec,
)
from running import Command
from trainyard.catalog import load_catalog
from trainyard.eks.cluster.plan import Cluster
from trainyard.run.history.committed import Committed
from trainyard.run.history.upgrades import pinned, steps

from history.folder import codes, compiled, only_object, write

pytestmark = pytest.mark.slow

OLDER, NEWER = list(load_catalog().releases)[:2]
BEFORE, AFTER = load_catalog().releases[OLDER], load_catalog().releases[NEWER]


def test_an_upgrade_of_the_release_says_what_restarts(trainyard: Command, tmp_path: Path) -> None:
    assert compiled(tmp_path, trainyard, spec(release=OLDER)).code == 0
    done = compiled(tmp_path, trainyard, spec(release=NEWER))
    assert done.code == 0
    assert codes(done) == {"CHG010", "CHG011"}
    for name in ("karpenter", "kueue", "trainer", "ami", "flux"):
        before, after = BEFORE.version(name), AFTER.version(name)
        assert before != after
        assert f"{name} {before} → {after}: restarts " in done.out
    assert re.search(r"note\[CHG010\]: \d+ components change their versions\n", done.out)
    assert "karpenter-crd" not in done.out
    assert "warning[CHG011]: ami " in done.out
    assert "eksctl upgrade nodegroup" in done.out
    assert codes(trainyard("check", "spec.yaml", cwd=tmp_path)) == set()


def test_a_downgrade_that_loses_data_is_refused(trainyard: Command, tmp_path: Path) -> None:
    compiled(tmp_path, trainyard, spec(release=NEWER))
    done = compiled(tmp_path, trainyard, spec(release=OLDER))
    assert done.code == 1
    (fault,) = [line for line in done.out.splitlines() if "error[" in line]
    after = BEFORE.version("trainer")
    assert fault.startswith("error[CHG012]: trainer ")
    assert f"→ {after} is no downgrade that can be taken" in fault
    assert "with them every TrainJob" in done.out
    assert f'release: "{OLDER}"' not in (tmp_path / "generated/lab/.manifest.json").read_text()


def test_what_was_never_pushed_is_no_upgrade(trainyard: Command, tmp_path: Path) -> None:
    compiled(tmp_path, trainyard, spec())
    shutil.rmtree(tmp_path / "generated" / "lab")
    done = compiled(tmp_path, trainyard, spec(release=OLDER))
    assert done.code == 0
    assert not codes(done) & {"CHG010", "CHG011", "CHG012", "CHG013"}


def test_a_trainer_that_knows_no_run_waits_for_its_end(trainyard: Command, tmp_path: Path) -> None:
    compiled(tmp_path, trainyard, spec(components=components(trainer=OLD_TRAINER)))
    run = only_object(tmp_path, "train")
    done = compiled(tmp_path, trainyard, spec())
    assert done.code == 1
    assert f"error[CHG012]: trainer {OLD_TRAINER} → " in done.out
    assert "every run that Trainer 2.1 started has ended" in done.out
    ended = compiled(tmp_path, trainyard, spec(jobs=[], completedRuns=[run]))
    assert ended.code == 0
    assert "warning[CHG011]: trainer " in ended.out


def test_a_job_that_was_never_submitted_stops_no_upgrade(
    trainyard: Command, tmp_path: Path
) -> None:
    old = spec(components=components(trainer=OLD_TRAINER), jobs=[])
    assert compiled(tmp_path, trainyard, old).code == 0
    done = compiled(tmp_path, trainyard, spec())
    assert done.code == 0
    assert "CHG012" not in codes(done)


def test_the_place_is_the_version_that_the_spec_names(trainyard: Command, tmp_path: Path) -> None:
    compiled(tmp_path, trainyard, spec())
    older = f"{RELEASE.components['karpenter'].supported[0]}.0"
    write(tmp_path, spec(components=components(karpenter=older)))
    lines = (tmp_path / "spec.yaml").read_text().splitlines()
    line = lines.index(f"      version: {older}") + 1
    out = trainyard("check", "spec.yaml", cwd=tmp_path).out
    _, _, reported = out.partition(f"karpenter {RELEASE.version('karpenter')} → {older} asks")
    assert reported.splitlines()[1].strip().startswith(f"--> spec.yaml:{line}:")


def test_a_step_that_nobody_assessed_is_a_warning(trainyard: Command, tmp_path: Path) -> None:
    older = PAIR.version.rpartition(".")[0]
    compiled(tmp_path, trainyard, spec(jobs=[]))
    edit = spec(jobs=[], components=components(kueue=f"{older}.0", trainer=OLD_TRAINER))
    done = compiled(tmp_path, trainyard, edit)
    assert "warning[CHG013]: what kueue " in done.out
    assert "this downgrade" in done.out


def test_the_report_has_a_section_of_upgrades(trainyard: Command, tmp_path: Path) -> None:
    compiled(tmp_path, trainyard, spec(release=OLDER))
    assert "## Upgrades" not in trainyard("report", "spec.yaml", cwd=tmp_path).out
    (tmp_path / "spec.yaml").write_text((tmp_path / "spec.yaml").read_text().replace(OLDER, NEWER))
    out = trainyard("report", "spec.yaml", cwd=tmp_path).out
    section = out.partition("## Upgrades")[2].partition("\n## ")[0]
    before, after = BEFORE.version("kueue"), AFTER.version("kueue")
    assert f"| kueue | {before} | {after} | safe | Kueue's controller" in section
    assert "- [ ] " in section
    assert "Source: " in section
    assert "CHG011" not in out


def test_what_is_added_is_no_upgrade(trainyard: Command, tmp_path: Path) -> None:
    bare = spec(health={"nodeMonitoringAgent": False}, jobs=[])
    compiled(tmp_path, trainyard, bare)
    assert not codes(compiled(tmp_path, trainyard, spec(jobs=[]))) & {"CHG010"}


@pytest.mark.parametrize(
    ("field", "component", "before"),
    [('version: "{}"', "kubernetes", "1.34"), ("version: {}", "coredns", "v1.13.1-eksbuild.1")],
)
def test_what_eksctl_upgrades_is_compared_too(
    field: str, component: str, before: str, trainyard: Command, tmp_path: Path
) -> None:
    compiled(tmp_path, trainyard, spec())
    facts = RELEASE.components[component]
    after = facts.version or facts.build
    path = tmp_path / "generated" / "lab" / "bootstrap" / "eksctl.yaml"
    text = path.read_text()
    assert field.format(after) in text
    path.write_text(text.replace(field.format(after), field.format(before)))
    plan, manifests = plan_of(spec()), manifests_of(spec())
    committed = Committed(tmp_path / "generated" / "lab")
    (taken,) = steps(plan, manifests, committed, [], load_catalog())
    assert (taken.component, taken.before, taken.after) == (component, before, after)
    assert taken.verdict == "manual"
    assert "eksctl" in str(taken.upgrades[0].steps)


def test_every_version_of_a_cluster_is_compared() -> None:
    """But for tools and our own images, whose versions stand in no object that Flux applies."""
    plan = plan_of(spec())
    found: dict[str, Any] = {}
    for manifest in manifests_of(spec()):
        found.update(pinned(manifest.body))
    cluster = plan.one(Cluster)
    assert cluster is not None
    addons = {addon.name for addon in cluster.addons}
    apart = {"eksctl", "flux", "node-problem-detector"}
    listed = listed_versions(plan)
    assert found.keys() == {*(listed.keys() - apart), *addons, "karpenter-crd"}


@pytest.mark.parametrize(
    "edit",
    [
        "spec: none",
        "spec: {chart: [1], ref: 2, amiSelectorTerms: {}}",
        "addons: [1, {name: coredns}, {version: [2]}]",
        "addons: 7",
    ],
)
@pytest.mark.parametrize(
    "path",
    [
        "controllers/ocirepository-kueue.yaml",
        "controllers/helmrelease-nvidia-device-plugin.yaml",
        "platform/ec2nodeclass-gpu.yaml",
        "bootstrap/eksctl.yaml",
    ],
)
def test_an_object_that_was_edited_by_hand_is_no_fault(
    path: str, edit: str, trainyard: Command, tmp_path: Path
) -> None:
    compiled(tmp_path, trainyard, spec())
    file = tmp_path / "generated" / "lab" / path
    head = file.read_text().partition("\nspec:")[0].partition("\naddons:")[0]
    file.write_text(f"{head}\n{edit}\n")
    done = trainyard("check", "spec.yaml", cwd=tmp_path)
    assert done.code == 0
    assert codes(done) <= {"CHG010", "CHG011", "CHG030"}
