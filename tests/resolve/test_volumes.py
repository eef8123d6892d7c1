"""Volumes, files and init containers of a job: where each stands, what it needs, and what is refused."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from builders import FSX, body_of, job_of, manifests_of, plan_of, resolved, shape_faults, spec
from trainyard.eks.jobs.plan import FileSet, Runtime, TrainJob, effective_pod
from trainyard.lift import lift
from trainyard.output.manifest import ObjectRef
from trainyard.plan import Plan
from trainyard.run.lower import lower
from trainyard.verify import verify
from trainyard.verify.formats import objects

FLUX = "kustomize.toolkit.fluxcd.io/"
VOLUMES = [
    {
        "name": "sets",
        "path": "/sets",
        "readOnly": True,
        "persistentVolumeClaim": {"claimName": "datasets"},
    },
    {"name": "tokens", "path": "/tokens", "configMap": {"name": "tokenizer"}},
    {"name": "wandb", "path": "/wandb", "secret": {"secretName": "wandb"}},
    {"name": "disk", "path": "/disk", "emptyDir": {"sizeLimit": "100Gi"}},
    {"name": "ram", "path": "/ram", "emptyDir": {"medium": "Memory", "sizeLimit": "8Gi"}},
    {"name": "nvme", "path": "/nvme", "nodeLocal": {"size": "2Ti"}},
    {"name": "tools", "path": "/tools", "hostPath": {"path": "/opt/tools", "type": "Directory"}},
]
FILES = {"/workspace/train.yaml": "epochs: 3\n", "/etc/a b.conf": "x\n"}
BEFORE = [{"name": "prepare", "command": ["python", "prepare.py"], "env": {"A": "b"}}]
STORAGE = [{"name": "data", "fsxLustre": {"existing": FSX}}]
MOUNTS = [{"storage": "data", "path": "/data"}]
PRIVILEGED = [{"name": "training", "podSecurity": "privileged"}]


def whole(**parts: Any) -> dict[str, Any]:
    job = {
        "volumes": copy.deepcopy(VOLUMES),
        "files": FILES,
        "initContainers": BEFORE,
        "mounts": MOUNTS,
    }
    return spec(storage=STORAGE, namespaces=PRIVILEGED, job=job, **parts)


def pod_spec(data: dict[str, Any]) -> dict[str, Any]:
    """The pod of the only runtime."""
    jobset = body_of(manifests_of(data), "ClusterTrainingRuntime")["spec"]["template"]
    (job,) = jobset["spec"]["replicatedJobs"]
    found: dict[str, Any] = job["template"]["spec"]["template"]["spec"]
    return found


def summaries(data: dict[str, Any]) -> list[tuple[str, str]]:
    return [(found.code, str(found.at)) for found in resolved(data)[1]]


def faults_of_set(plan: Plan) -> list[str]:
    """What is wrong with the objects of a plan."""
    external = frozenset(ObjectRef(*each) for each in plan.external)
    found = verify(objects(lower(plan)), closed=True, external=external)
    return [fault.message for fault in found]


@pytest.mark.parametrize("version", ["2.3.0", "2.1.0"])
def test_what_is_written_reads_back_and_is_sound(version: str) -> None:
    plan = plan_of(whole(components={"trainer": {"version": version}}))
    made = objects(lower(plan))
    read = lift(made, closed=True)
    assert read.of(Runtime) == plan.of(Runtime)
    assert read.of(FileSet) == plan.of(FileSet)
    assert read == plan
    assert faults_of_set(plan) == []


def test_each_kind_of_volume_is_one_of_kubernetes() -> None:
    found = {each.pop("name"): each for each in pod_spec(whole())["volumes"]}
    files = found.pop("files")["configMap"]["name"]
    assert found == {
        "dshm": {"emptyDir": {"medium": "Memory", "sizeLimit": "64Gi"}},
        "sets": {"persistentVolumeClaim": {"claimName": "datasets"}},
        "tokens": {"configMap": {"name": "tokenizer"}},
        "wandb": {"secret": {"secretName": "wandb"}},
        "disk": {"emptyDir": {"sizeLimit": "100Gi"}},
        "ram": {"emptyDir": {"medium": "Memory", "sizeLimit": "8Gi"}},
        "nvme": {"emptyDir": {"sizeLimit": "2Ti"}},
        "tools": {"hostPath": {"path": "/opt/tools", "type": "Directory"}},
    }
    assert files == body_of(manifests_of(whole()), "ConfigMap", files)["metadata"]["name"]


def test_what_others_make_must_exist() -> None:
    external = plan_of(whole()).external
    assert {
        ("v1", "PersistentVolumeClaim", "training", "datasets"),
        ("v1", "ConfigMap", "training", "tokenizer"),
        ("v1", "Secret", "training", "wandb"),
    } <= external


def test_what_a_runtime_names_is_looked_for_where_its_jobs_run() -> None:
    """A reference of a cluster-wide runtime is one of each namespace whose jobs refer to it."""
    made = manifests_of(whole())
    missing = {
        found.message
        for found in verify(made, closed=True)
        if found.object.startswith("ClusterTrainingRuntime")
        or "ClusterTrainingRuntime" in str(found.at)
    }
    assert {
        "`PersistentVolumeClaim` `datasets` in namespace `training` is not declared",
        "`ConfigMap` `tokenizer` in namespace `training` is not declared",
        "`Secret` `wandb` in namespace `training` is not declared",
    } == missing


def test_files_are_an_immutable_config_map_that_flux_leaves_alone() -> None:
    plan = plan_of(spec(job={"files": {"/a/b.sh": "echo ${HOME}\n"}}))
    (files,) = plan.of(FileSet)
    body = body_of(objects(lower(plan)), "ConfigMap", files.name)
    assert body["immutable"] is True
    assert body["data"] == {"a.b.sh": "echo ${HOME}\n"}
    assert body["metadata"]["annotations"] == {
        f"{FLUX}prune": "disabled",
        f"{FLUX}substitute": "disabled",
    }
    (mount,) = [
        each
        for each in pod_spec(spec(job={"files": {"/a/b.sh": "x"}}))["containers"][0]["volumeMounts"]
        if each["name"] == "files"
    ]
    assert mount == {"name": "files", "mountPath": "/a/b.sh", "subPath": "a.b.sh", "readOnly": True}


def test_another_text_is_another_name_and_another_run() -> None:
    one, two = (spec(job={"files": {"/a": text}}) for text in ("x", "z"))
    names = {plan_of(data).of(FileSet)[0].name for data in (one, two)}
    assert len(names) == 2
    assert job_of(one).name != job_of(two).name
    assert job_of(one).name == job_of(copy.deepcopy(one)).name


def test_the_same_files_of_two_jobs_are_one_object() -> None:
    data = whole()
    data["spec"]["jobs"].append({**data["spec"]["jobs"][0], "name": "second", "env": {"A": "b"}})
    plan = plan_of(data)
    assert len(plan.of(TrainJob)) == 2
    assert len(plan.of(FileSet)) == 1
    assert len(plan.of(Runtime)) == 1


@pytest.mark.parametrize(
    ("paths", "keys"),
    [
        (["/a/b", "/a.b"], 2),
        (["/..data"], 1),
        (["/ü/ß"], 1),
        ([f"/{'a' * 250}/b", f"/{'a' * 250}/c"], 2),
        ([f"/x/{'a' * 300}", f"/y/{'a' * 300}"], 2),
    ],
)
def test_keys_are_those_of_a_config_map(paths: list[str], keys: int) -> None:
    plan = plan_of(spec(job={"files": dict.fromkeys(paths, "x")}))
    made = objects(lower(plan))
    assert faults_of_set(plan) == []
    (files,) = [each.body for each in made if each.ref.name.startswith("files-")]
    assert len(files["data"]) == keys


def test_init_containers_have_the_mounts_of_the_job_and_ask_for_no_more() -> None:
    plan = plan_of(whole())
    (job,), (runtime,) = plan.of(TrainJob), plan.of(Runtime)
    pod = effective_pod(job, runtime)
    assert pod is not None
    (before,), (main,) = pod.init_containers, pod.containers
    assert before.image == job.image
    assert {mount.path for mount in main.mounts} - {mount.path for mount in before.mounts} == {
        "/dev/shm"
    }
    assert "/data" in {mount.path for mount in before.mounts}
    assert (
        before.requests
        == before.limits
        == {name: main.requests[name] for name in ("cpu", "memory")}
    )


def test_an_init_container_may_have_an_image_of_its_own() -> None:
    before = [{"name": "a", "image": "r.test/b:2", "command": ["x"], "args": ["z"]}]
    (container,) = pod_spec(spec(job={"initContainers": before}))["initContainers"]
    assert (container["image"], container["command"], container["args"]) == (
        "r.test/b:2",
        ["x"],
        ["z"],
    )


@pytest.mark.parametrize("volume", VOLUMES, ids=lambda each: str(each["name"]))
def test_a_volume_makes_another_run(volume: dict[str, Any]) -> None:
    plain = spec(namespaces=PRIVILEGED)
    assert job_of(spec(namespaces=PRIVILEGED, job={"volumes": [volume]})).name != job_of(plain).name


def test_volumes_of_storage_and_of_the_job_have_names_of_their_own() -> None:
    volumes = [{"name": name, "path": f"/{name}s", "emptyDir": {}} for name in ("files", "data")]
    job = {"mounts": MOUNTS * 1, "volumes": volumes, "files": {"/x": "z"}}
    data = spec(storage=[{**STORAGE[0]}], job=job)
    names = [each["name"] for each in pod_spec(data)["volumes"]]
    assert names == ["dshm", "files", "data", "files-2"]
    (patch,) = job_of(data).patches
    assert [(each.name, each.source) for each in patch.pod.volumes] == [("data-2", "data")]


LARGE = [
    {**VOLUMES[5], "nodeLocal": {"size": "5Ti"}},
    {**VOLUMES[3], "emptyDir": {"sizeLimit": "3Ti"}},
]
TWO = {**VOLUMES[3], "nodeLocal": {"size": "1Gi"}}
NO_DISKS = {"instanceTypes": ["m7i.16xlarge"], "zones": ["us-west-2a"]}


@pytest.mark.parametrize(
    ("data", "code", "at"),
    [
        (
            spec(pool=NO_DISKS, job={"nodes": 1, "volumes": [VOLUMES[5]]}),
            "RES060",
            "spec.jobs[0].volumes[0].nodeLocal",
        ),
        (
            spec(pool={"localStorage": "none"}, job={"volumes": [VOLUMES[3], VOLUMES[5]]}),
            "RES060",
            "spec.jobs[0].volumes[1].nodeLocal",
        ),
        (spec(job={"volumes": [VOLUMES[6]]}), "RES065", "spec.jobs[0].volumes[0].hostPath"),
        (
            spec(
                storage=STORAGE,
                job={"volumes": [{**VOLUMES[0], "persistentVolumeClaim": {"claimName": "data"}}]},
            ),
            "RES066",
            "spec.jobs[0].volumes[0].persistentVolumeClaim.claimName",
        ),
        (
            spec(job={"volumes": [{**VOLUMES[5], "nodeLocal": {"size": "9Ti"}}]}),
            "RES048",
            "spec.jobs[0].volumes[0]",
        ),
        (spec(job={"volumes": LARGE}), "RES048", "spec.jobs[0].volumes[1]"),
        (
            spec(job={"volumes": [VOLUMES[3], {**VOLUMES[4], "name": "disk"}]}),
            "RES009",
            "spec.jobs[0].volumes[1].name",
        ),
        (
            spec(job={"volumes": [{**VOLUMES[3], "name": "dshm"}]}),
            "RES009",
            "spec.jobs[0].volumes[0].name",
        ),
        (
            spec(job={"initContainers": [{**BEFORE[0], "name": "node"}]}),
            "RES009",
            "spec.jobs[0].initContainers[0].name",
        ),
        (
            spec(job={"volumes": [VOLUMES[3], {**VOLUMES[4], "path": "/disk/"}]}),
            "RES031",
            "spec.jobs[0].volumes[1].path",
        ),
        (
            spec(
                storage=STORAGE,
                job={"mounts": MOUNTS, "volumes": [{**VOLUMES[3], "path": "/data"}]},
            ),
            "RES031",
            "spec.jobs[0].volumes[0].path",
        ),
        (
            spec(job={"volumes": [{**VOLUMES[3], "path": "/dev/shm"}]}),
            "RES031",
            "spec.jobs[0].volumes[0].path",
        ),
        (
            spec(job={"volumes": [VOLUMES[3]], "files": {"/disk": "x"}}),
            "RES031",
            'spec.jobs[0].files["/disk"]',
        ),
        (
            spec(job={"volumes": [VOLUMES[3]], "files": {"/disk/a": "x"}}),
            "RES031",
            'spec.jobs[0].files["/disk/a"]',
        ),
        (spec(job={"files": {"/a": "x", "/a/b": "x"}}), "RES031", 'spec.jobs[0].files["/a/b"]'),
        (
            spec(job={"volumes": [VOLUMES[1]], "checkpoint": {"path": "/tokens/a"}}),
            "RES035",
            "spec.jobs[0].checkpoint.path",
        ),
        (
            spec(job={"volumes": [VOLUMES[0]], "checkpoint": {"path": "/sets/a"}}),
            "RES035",
            "spec.jobs[0].checkpoint.path",
        ),
    ],
)
def test_each_contradiction_stands_at_its_place(data: dict[str, Any], code: str, at: str) -> None:
    assert summaries(data) == [(code, at)]


def test_a_file_beside_a_folder_of_like_name_is_sound() -> None:
    job = {"volumes": [VOLUMES[3]], "files": {"/disks": "x", "/disk.yaml": "z"}}
    assert summaries(spec(job=job)) == []


@pytest.mark.parametrize(
    ("job", "at", "said"),
    [
        ({"volumes": [{"name": "a", "path": "/a"}]}, "volumes[0]", "of no kind"),
        ({"volumes": [TWO]}, "volumes[0]", "`emptyDir`, `nodeLocal` are given"),
        (
            {"volumes": [{**VOLUMES[3], "path": "/etc"}]},
            "volumes[0].path",
            "hides its configuration",
        ),
        ({"files": {"/a": "x" * (1024**2 + 1)}}, "files", "1048577 bytes"),
        ({"files": {"/a": "x" * 1024**2, "/b": "z"}}, "files", "1048577 bytes"),
        ({"files": {"a": "x"}}, 'files["a"]'.partition("[")[0] + ".a", "not an absolute path"),
        ({"files": {"/a/": "x"}}, 'files["/a/"]', "is a folder"),
        ({"files": {"/etc": "x"}}, 'files["/etc"]', "is a folder"),
        ({"files": {"/proc/x": "z"}}, 'files["/proc/x"]', "the kernel's"),
        ({"files": {"/a": "x\0"}}, 'files["/a"]', "zero byte"),
        (
            {"initContainers": [{"name": "a", "command": ["cd /a"]}]},
            "initContainers[0].command",
            "spaces",
        ),
    ],
)
def test_a_value_out_of_bounds_is_refused(job: dict[str, Any], at: str, said: str) -> None:
    found = shape_faults(spec(job=job))
    assert [(each.code, str(each.at)) for each in found] == [("SPC005", f"spec.jobs[0].{at}")]
    assert said in found[0].message


def test_a_megabyte_of_files_is_accepted() -> None:
    assert shape_faults(spec(job={"files": {"/a": "x" * 1024**2}})) == []


def test_a_namespace_enforces_baseline_unless_it_says_so() -> None:
    made = manifests_of(spec(namespaces=[*PRIVILEGED], job={}))
    labels = body_of(made, "Namespace", "training")["metadata"]["labels"]
    assert labels["pod-security.kubernetes.io/enforce"] == "privileged"
    labels = body_of(manifests_of(spec()), "Namespace", "training")["metadata"]["labels"]
    assert labels["pod-security.kubernetes.io/enforce"] == "baseline"
