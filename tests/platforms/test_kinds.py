"""Every kind of object that runs a job says all that is asked of a kind: what is missing fails by its name."""

from __future__ import annotations

import ast
import inspect
import json
from itertools import starmap
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from builders import FSX, ROOT, body_of, job_of_kind, manifests_of, objects_of, plan_of, spec
from history.folder import write
from running import Command
from trainyard.catalog import load_catalog
from trainyard.eks.addons import addons
from trainyard.eks.jobs import bodies, heads, lifting, origins
from trainyard.eks.jobs.kind import ASKED, ASKED_BY_LAUNCHERS, JobKind, OwnPods
from trainyard.eks.jobs.kinds import kind_of_object, kinds_of_eks
from trainyard.eks.jobs.plan import TRAIN_JOB, FileSet, Runtime, TrainJob
from trainyard.eks.jobs.pod_labels import plain
from trainyard.eks.kueue.plan import INTEGRATIONS, QueueManager
from trainyard.eks.third_party_workloads.plan import Workload
from trainyard.eks.third_party_workloads.resources import job_resources
from trainyard.extensions.operate.runs import Run
from trainyard.extensions.operate.status import Nodes, State, state_of
from trainyard.lift import kinds as readers
from trainyard.lift import lift
from trainyard.output.manifest import ObjectRef
from trainyard.verify import verify
from trainyard.verify.references import pod_specs
from trainyard.verify.schemas import DATA, file_name
from trainyard.verify.syntax import SYNTAXES

from tests.platforms.passes import codes

KINDS = kinds_of_eks()
STORAGE = [{"name": "data", "fsxLustre": {"existing": {**FSX, "version": "2.15"}}}]
of_each = pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)


def of_kind(kind: JobKind, **job: Any) -> dict[str, Any]:
    """A spec with one job of a kind, which has a storage and a Secret."""
    keys = {
        **job_of_kind(kind),
        "mounts": [{"storage": "data", "path": "/data"}],
        "secretEnv": [{"env": "HF_TOKEN", "secret": "hf", "key": "token"}],
        **job,
    }
    return spec(job=keys, storage=STORAGE)


def object_of(kind: JobKind, data: dict[str, Any]) -> dict[str, Any]:
    return body_of(manifests_of(data), kind.kind)


@of_each
class TestEveryKind:
    def test_it_says_all_that_is_asked_of_a_kind(self, kind: JobKind) -> None:
        asked = list(ASKED)
        if kind.name != TRAIN_JOB:
            assert isinstance(kind, OwnPods)
            asked += ["written", "lift", "parts", "runtime", "explain"]
        for launcher in kind.launchers:
            asked += ASKED_BY_LAUNCHERS.get(launcher, ())
        missing = [name for name in asked if name not in vars(type(kind))]
        assert not missing, f"kind `{kind.name}` does not say: {', '.join(missing)}"

    def test_status_knows_when_it_is_over(self, kind: JobKind) -> None:
        """Each value that says so is one that its status may have."""
        for value, state in (
            *((done, State.DONE) for done in kind.ends.done),
            *((failed, State.FAILED) for failed in kind.ends.failed),
        ):
            body: dict[str, Any] = {"metadata": {"name": "a", "namespace": "b"}}
            if kind.ends.field:
                first, *below = kind.ends.field
                assert first == "status"
                inner: Any = value
                for key in reversed(below):
                    inner = {key: inner}
                body["status"] = inner
            else:
                body["status"] = {"conditions": [{"type": value, "status": "True"}]}
            run = Run(kind, body, None, None)
            assert state_of(run, Nodes(0, 1)) is state
        assert kind.ends.done

    def test_a_spec_can_say_it_and_nothing_else_by_its_name(self, kind: JobKind) -> None:
        assert kind.name in (kind.kind, f"{kind.kind}.{kind.group}")
        assert kind_of_object(kind.group, kind.kind) is kind
        assert [other.name for other in KINDS.values() if other.place == kind.place] == [kind.name]

    def test_its_schema_is_kept_of_the_release_that_it_names(self, kind: JobKind) -> None:
        data = json.loads((DATA / file_name(*kind.api.split("/"), kind.kind)).read_text())
        assert f"{data['project']}/{data['release']}" == kind.crd

    def test_its_name_has_a_syntax_and_a_limit(self, kind: JobKind) -> None:
        longest = SYNTAXES[kind.name_syntax].longest
        if kind.name_limit is not None:
            assert kind.name_limit.most < longest
            assert kind.name_limit.why

    def test_rules_find_its_pods_and_the_container_of_the_program(self, kind: JobKind) -> None:
        plan = plan_of(of_kind(kind))
        (runtime,) = plan.of(Runtime)
        assert kind.main == runtime.main
        if kind.name == TRAIN_JOB:
            return
        found = [pod for _, pod in pod_specs(object_of(kind, of_kind(kind)))]
        assert len(found) == len(runtime.jobs)
        for pod in found:
            assert kind.main in [container["name"] for container in pod["containers"]]

    def test_what_its_pods_refer_to_must_be_there(self, kind: JobKind) -> None:
        plan = plan_of(of_kind(kind))
        without = [ref for ref in starmap(ObjectRef, plan.external) if ref.kind != "Secret"]
        faults = verify(objects_of(plan), external=frozenset(without))
        assert {fault.code for fault in faults} == {"REF001"}
        assert all("hf" in fault.message for fault in faults)

    def test_what_is_written_is_sound_and_reads_back(self, kind: JobKind) -> None:
        plan = plan_of(of_kind(kind))
        objects = objects_of(plan)
        assert verify(objects, external=frozenset(starmap(ObjectRef, plan.external))) == []
        lifted = lift(objects, closed=True)
        for node in (TrainJob, Runtime, FileSet):
            assert lifted.of(node) == plan.of(node)

    def test_that_of_a_third_party_is_read_too(self, kind: JobKind) -> None:
        assert f"{kind.group}/{kind.kind}" in readers()
        lifted = lift(
            [each for each in manifests_of(of_kind(kind)) if each.ref.kind == kind.kind],
            closed=False,
        )
        if kind.name == TRAIN_JOB:
            assert len(lifted.of(TrainJob)) == 1
            return
        (workload,) = lifted.of(Workload)
        assert workload.kind == kind.name
        assert workload.pods

    def test_kueue_manages_it_or_a_rule_says_that_it_cannot(
        self, kind: JobKind, tmp_path: Path
    ) -> None:
        plan = plan_of(of_kind(kind))
        manager = plan.one(QueueManager)
        assert manager is not None
        if kind.framework is None:
            assert ("RUN089", "spec.jobs[0].kind") in codes(of_kind(kind), tmp_path)
            return
        if kind.framework in INTEGRATIONS:
            assert kind.framework in manager.frameworks
        else:
            named, version, group = kind.framework.split(".", 2)
            assert (named, f"{group}/{version}") == (kind.kind, kind.api)
            assert kind.framework in manager.external_frameworks
        metadata = object_of(kind, of_kind(kind))["metadata"]
        assert metadata["labels"]["kueue.x-k8s.io/queue-name"] == "gpu"

    def test_its_operator_is_installed_where_the_spec_has_one(self, kind: JobKind) -> None:
        release = load_catalog().newest_release
        if not kind.operator:
            return
        assert kind.operator in release.components
        assert kind.operator in addons()
        paths = {each.path for each in manifests_of(of_kind(kind)) if kind.operator in each.path}
        assert paths, "nothing of its operator is written"

    def test_it_says_how_often_it_is_started_again(self, kind: JobKind) -> None:
        value: Any = object_of(kind, of_kind(kind, nodes=1, retries=7))
        for key in kind.retries:
            value = value[key]
        if kind.retries:
            assert value == 7

    def test_people_and_flux_may_do_with_it_what_they_must(self, kind: JobKind) -> None:
        teams = [{"name": "training", "group": "team-a"}]
        data = of_kind(kind)
        data["spec"]["namespaces"] = teams
        roles = [
            each.body for each in manifests_of(data) if each.ref.kind in ("Role", "ClusterRole")
        ]
        rules = [
            rule for role in roles for rule in role["rules"] if kind.plural in rule["resources"]
        ]
        assert any("delete" in rule["verbs"] and "create" not in rule["verbs"] for rule in rules)
        assert any({"create", "patch"} <= set(rule["verbs"]) for rule in rules)

    def test_logs_and_costs_know_of_which_job_its_pods_are(self, kind: JobKind) -> None:
        data = of_kind(kind)
        written = {}
        for logs in ({"loki": {}}, {"cloudWatch": {}}):
            data["spec"] |= {"monitoring": {}, "logs": logs}
            for each in manifests_of(data):
                written[each.path] = str(each.body)
        labels = kind.run_pods
        for label in filter(None, (labels.run, labels.role, labels.number, labels.attempt)):
            assert label in written["controllers/helmrelease-fluent-bit.yaml"]
            assert plain(label) in written["controllers/helmrelease-alloy.yaml"]
        if not labels.shared:
            exported = written["controllers/helmrelease-kube-prometheus-stack.yaml"]
            assert labels.run in exported
            records = [text for path, text in written.items() if "trainyard-records" in path]
            assert f"label_{plain(labels.run)}" in records[0]

    def test_the_way_down_ends_it(self, kind: JobKind) -> None:
        assert f"{kind.plural}.{kind.group}" in job_resources()

    @pytest.mark.slow
    def test_it_runs_once(self, kind: JobKind, tmp_path: Path, trainyard: Command) -> None:
        write(tmp_path, of_kind(kind))
        if kind.framework is None:
            (tmp_path / "policies").mkdir()
            (tmp_path / "policies" / "policy.yaml").write_text('levels: {RUN089: "off"}')
        assert trainyard("compile", "spec.yaml", cwd=tmp_path).code == 0
        write(tmp_path, of_kind(kind, env={"A": "1"}))
        done = trainyard("check", "spec.yaml", cwd=tmp_path)
        assert done.code == 1
        assert "error[RES030]: job `train` was submitted as" in done.out
        write(tmp_path, spec(job={"kind": other_than(kind).name, **command_of(other_than(kind))}))
        done = trainyard("check", "spec.yaml", cwd=tmp_path)
        assert "error[CHG026]" in done.out
        assert f"kubectl delete {kind.word} train-" in done.out

    def test_its_page_has_it(self, kind: JobKind) -> None:
        page = (ROOT / "docs/kinds.md").read_text()
        assert f"| `{kind.name}` |" in page
        bounds = (ROOT / "docs/bounds.md").read_text()
        assert f"`{kind.name}`" in bounds

    def test_what_it_reads_shares_no_code_with_what_it_writes(self, kind: JobKind) -> None:
        module = inspect.getmodule(type(kind))
        assert module is not None
        writes = reached(module, "written" if kind.name != TRAIN_JOB else "manifest")
        reads = reached(module, "lift") | reached(module, "parts")
        shared = {name for name in writes & reads if not is_plain(getattr(module, name))}
        assert shared == set()
        for name in reads:
            home = getattr(getattr(module, name), "__module__", "")
            assert home not in {each.__name__ for each in (bodies, heads, origins)}, name
        for name in writes:
            assert getattr(getattr(module, name), "__module__", "") != lifting.__name__, name


def other_than(kind: JobKind) -> JobKind:
    return next(other for other in KINDS.values() if other is not kind)


def command_of(kind: JobKind) -> dict[str, Any]:
    return {"command": job_of_kind(kind)["command"]}


def is_plain(value: object) -> bool:
    """Whether a name of a module is a class of nodes, a constant or a type: no code that both ways could share."""
    return not inspect.isfunction(value)


def reached(module: ModuleType, method: str) -> set[str]:
    """The names of a module that a method of its kind uses, and functions of the module that it calls."""
    tree = ast.parse(inspect.getsource(module))
    functions = {node.name: node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}
    found: set[str] = set()
    waiting = [method]
    while waiting:
        node = functions.get(waiting.pop())
        if node is None:
            continue
        names = [each for each in ast.walk(node) if isinstance(each, ast.Name)]
        of_its_own = {each.id for each in names if isinstance(each.ctx, ast.Store)}
        of_its_own |= {each.arg for each in ast.walk(node) if isinstance(each, ast.arg)}
        named = {each.id for each in names} - of_its_own
        fresh = {name for name in named - found if hasattr(module, name)}
        found |= fresh
        waiting += fresh
    return found
