"""Images that are built: their Dockerfiles, stacks and locks, and what jobs run of them."""

from __future__ import annotations

import copy
import json
import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import cfn_lint
import hadolint
import pytest
import yaml
from builders import spec
from running import Command, stand_ins
from test_guards import astray
from trainyard.catalog.efa import BUNDLED, arch_of, bundled, known_since, least_nccl, versions_of
from trainyard.core.images.plan import MadeImage, Recipe
from trainyard.eks.jobs.plan import TrainJob
from trainyard.extensions.images.built.requirements import requirements
from trainyard.extensions.images.formats.dockerfile.grammar import instructions
from trainyard.output import Artifact
from trainyard.plan import Plan
from trainyard.run.driver import check
from trainyard.run.outcome import Compilation, Options
from trainyard.verify.formats import Setting, lifted, verified

ONE, TWO = "1" * 64, "2" * 64
DLC = "public.ecr.aws/deep-learning-containers/pytorch-training:2.8.0-gpu-py312-cu129-ubuntu22.04-ec2-v1.0"
LOCKED = f"""\
# of requirements.in
einops==0.8.1 \\
    --hash=sha256:{ONE} \\
    --hash=sha256:{TWO}
"""
IMAGES: list[dict[str, Any]] = [
    {
        "name": "train",
        "base": f"{DLC}@sha256:{ONE}",
        "requirements": "../train/requirements.txt",
        "sources": [{"from": "../train/src", "to": "/workspace/src"}],
        "contents": {"nccl": "2.27.3", "efaInstaller": "1.43.2"},
        "build": {"codeBuild": {}},
    },
    {
        "name": "tools",
        "base": f"nvcr.io/nvidia/pytorch:24.12-py3@sha256:{TWO}",
        "efaInstaller": {"version": "1.43.2", "sha256": ONE},
        "packages": {"numactl": "2.0.14-3ubuntu2", "libaio-dev": "0.3.112-13build1"},
        "env": {"PYTHONUNBUFFERED": "1", "GREETING": "a \"$x\" \\ 'b'"},
        "sources": [
            {"from": "../train/src", "to": "/opt/tools/src"},
            {"from": "../train/requirements.txt", "to": "/opt/tools/lock.txt"},
        ],
        "workingDir": "/opt/tools",
        "repository": {"keep": 100},
        "build": {
            "codeBuild": {
                "connection": "arn:aws:codeconnections:us-west-2:111122223333:connection/"
                "0a1b2c3d-4e5f-6071-8293-a4b5c6d7e8f9"
            }
        },
    },
    {
        "name": "hub",
        "base": f"763104351884.dkr.ecr.us-west-2.amazonaws.com/pytorch-training@sha256:{ONE}",
        "requirements": "../train/requirements.txt",
        "sources": [{"from": "../train/src", "to": "/workspace/src"}],
        "build": {"githubActions": {"minutes": 90}},
    },
    {
        "name": "plain",
        "base": f"763104351884.dkr.ecr.us-west-2.amazonaws.com/pytorch-training-arm64@sha256:{ONE}",
        "user": 0,
        "build": {"codeBuild": {"minutes": 60}},
    },
]
FLUX = {"url": "ssh://git@github.com/example/fleet"}


def repository(folder: Path, data: dict[str, Any], lock: str = LOCKED) -> Path:
    """A repository with a spec in ``specs``, and what its images are built of."""
    (folder / ".git").mkdir(parents=True)
    (folder / "specs").mkdir()
    (folder / "train/src").mkdir(parents=True)
    (folder / "train/src/train.py").write_text("print(1)\n")
    (folder / "train/requirements.txt").write_text(lock)
    (folder / "specs/lab.yaml").write_text(yaml.safe_dump(data, sort_keys=False))
    return folder


def with_images(**parts: Any) -> dict[str, Any]:
    given: dict[str, Any] = {"images": IMAGES, "flux": FLUX, "job": {"image": "train"}}
    return spec(**{**given, **parts})


def compiled(folder: Path) -> Compilation:
    outcome = check([folder / "specs"], Options(output=folder / "generated"))
    assert not outcome.diagnostics
    (compilation,) = outcome.compilations
    return compilation


def built(folder: Path, image: str, recipe: str, digest: str = ONE) -> Path:
    lock = folder / f"specs/images/lab/{image}.lock"
    lock.parent.mkdir(parents=True, exist_ok=True)
    lock.write_text(f"# ours\ndigest: sha256:{digest}\nrecipe: {recipe}\n")
    return lock


def codes(compilation: Compilation) -> list[tuple[str, str]]:
    """Code and place of each diagnostic, the place as the file's name and line."""
    found = []
    for each in compilation.diagnostics:
        assert each.span is not None
        found.append((each.code, f"{Path(each.span.file.name).name}:{each.span.line}"))
    return found


def plan_of(compilation: Compilation) -> Plan:
    assert compilation.plan is not None, compilation.diagnostics
    return compilation.plan


def recipe_of(compilation: Compilation, name: str) -> str:
    made = plan_of(compilation).named(MadeImage, name)
    assert made is not None
    return made.recipe


def text_of(compilation: Compilation, path: str) -> str:
    (artifact,) = (one for one in compilation.artifacts if one.path == path)
    return artifact.content


def dockerfile(compilation: Compilation, name: str) -> str:
    return text_of(compilation, f"bootstrap/images/{name}/Dockerfile")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    data = with_images(imageCaches=[{"registry": "registry.k8s.io"}])
    return repository(tmp_path_factory.mktemp("fleet") / "repository", data)


@pytest.fixture(scope="module")
def compilation(folder: Path) -> Compilation:
    return compiled(folder)


@pytest.mark.slow
def test_every_place_is_one_of_the_spec(compilation: Compilation) -> None:
    assert astray(plan_of(compilation)) == []


# --- before and after the first build


def test_a_job_waits_for_the_first_build_and_runs_its_digest(tmp_path: Path) -> None:
    folder = repository(tmp_path / "fleet", with_images())
    first = compiled(folder)
    assert [code for code, _ in codes(first)] == ["RES141"]
    assert plan_of(first).of(TrainJob) == ()
    assert "specs/images/lab/train.lock" in first.diagnostics[0].message
    assert "images.sh build train" in first.diagnostics[0].help
    built(folder, "train", recipe_of(first, "train"))
    second = compiled(folder)
    assert codes(second) == []
    (job,) = plan_of(second).of(TrainJob)
    registry = "111122223333.dkr.ecr.us-west-2.amazonaws.com"
    assert job.image == f"{registry}/lab/train@sha256:{ONE}"
    # Another digest is another run; nothing else of the image is in the job.
    built(folder, "train", recipe_of(first, "train"), TWO)
    (other,) = plan_of(compiled(folder)).of(TrainJob)
    assert other.name != job.name


def test_a_job_that_waits_is_checked(tmp_path: Path) -> None:
    """By what the spec says, and by policies: as it will be."""
    model = {"parameters": 1e13, "sharding": "full"}
    job = {"image": "train", "launcher": {"mpi": {}}, "model": model}
    found = compiled(repository(tmp_path / "fleet", with_images(job=job)))
    assert {code for code, _ in codes(found)} == {"RES141", "RES131", "RES024"}
    job = {"image": "train", "nodes": 5, "env": {"HF_TOKEN": "hf_" + "a" * 30}}
    found = compiled(repository(tmp_path / "other", with_images(job=job)))
    assert {code for code, _ in codes(found)} > {"RES141", "RUN024"}
    assert "jobs" not in {manifest.path.partition("/")[0] for manifest in found.manifests}


def test_a_job_that_waits_is_checked_beside_one_of_the_same_pool(tmp_path: Path) -> None:
    """Each has a runtime of its own: the name of a runtime carries what is in it."""
    spec = with_images(job={"image": "train", "files": {"/etc/a.yaml": "a: 1"}})
    written = {**spec["spec"]["jobs"][0], "name": "other", "image": "train:1.0"}
    spec["spec"]["jobs"].append({**written, "files": {"/etc/b.yaml": "b: 1"}})
    found = compiled(repository(tmp_path / "fleet", spec))
    assert {code for code, _ in codes(found)} == {"RES141"}


def test_init_containers_name_images_too(tmp_path: Path) -> None:
    init = [
        {"name": "fetch", "image": "tools", "command": ["fetch"]},
        {"name": "same", "command": ["check"]},
    ]
    folder = repository(
        tmp_path / "fleet", with_images(job={"image": "train", "initContainers": init})
    )
    first = compiled(folder)
    assert [code for code, _ in codes(first)] == ["RES141", "RES141"]
    for name in ("train", "tools"):
        built(folder, name, recipe_of(first, name))
    second = compiled(folder)
    assert codes(second) == []
    bodies = json.dumps([manifest.body for manifest in second.manifests])
    assert bodies.count("amazonaws.com/lab/tools@sha256") == 1
    assert bodies.count("amazonaws.com/lab/train@sha256") == 2


@pytest.mark.slow
def test_another_recipe_than_the_last_build_is_a_warning(tmp_path: Path) -> None:
    folder = repository(tmp_path / "fleet", with_images())
    recipe = recipe_of(compiled(folder), "train")
    built(folder, "train", recipe)
    (folder / "train/requirements.txt").write_text(LOCKED.replace("0.8.1", "0.8.2"))
    changed = compiled(folder)
    assert codes(changed) == [("RES142", "train.lock:1")]
    assert recipe_of(changed, "train") != recipe
    assert len(plan_of(changed).of(TrainJob)) == 1
    assert recipe_of(changed, "tools") == recipe_of(compiled(folder), "tools")


def test_requirements_that_move_are_the_same_recipe(tmp_path: Path) -> None:
    before = recipe_of(compiled(repository(tmp_path / "fleet", with_images())), "train")
    image = {**IMAGES[0], "requirements": "requirements.txt"}
    other = repository(tmp_path / "other", with_images(images=[image, IMAGES[1]]))
    (other / "specs/requirements.txt").write_text(LOCKED)
    assert recipe_of(compiled(other), "train") == before


@pytest.mark.parametrize(
    ("text", "line"),
    [
        (f"<<<<<<< HEAD\ndigest: sha256:{ONE}\nrecipe: 0123456789ab\n", 1),
        (f"digest: sha256:{ONE}\n", 1),
        (f"digest: sha256:{ONE}\nrecipe: 0123456789ab\ndigest: sha256:{TWO}\n", 3),
        ("recipe: 0123456789ab\ndigest: latest\n", 2),
    ],
)
def test_a_lock_of_another_form_is_reported_at_its_line(
    tmp_path: Path, text: str, line: int
) -> None:
    folder = repository(tmp_path / "fleet", with_images())
    built(folder, "train", "0" * 12).write_text(text)
    assert ("RES148", f"train.lock:{line}") in codes(compiled(folder))


@pytest.mark.parametrize(("version", "waits"), [("2.12.0", True), ("2.11.0", False)])
def test_torchrun_waits_as_the_torch_of_the_image_can(
    tmp_path: Path, version: str, waits: bool
) -> None:
    """Of an image of the spec no tag says the version, and the spec does."""
    job = {"image": "train", "terminationGracePeriod": "20m"}
    base = f"registry.test/train@sha256:{ONE}"
    image = {**IMAGES[0], "base": base, "contents": {"torch": version}}
    folder = repository(tmp_path / "fleet", with_images(job=job, images=[image]))
    built(folder, "train", recipe_of(compiled(folder), "train"))
    (found,) = plan_of(compiled(folder)).of(TrainJob)
    names = {variable.name for variable in found.env}
    assert ("TORCH_ELASTIC_SHUTDOWN_TIMEOUT" in names) is waits


def test_folders_of_several_words_are_copied(tmp_path: Path) -> None:
    folder = repository(tmp_path / "fleet", with_images(images=IMAGES[:1]))
    (folder / "specs").rename(folder / "our specs")
    (folder / "our specs/requirements.txt").write_text(LOCKED)
    text = yaml.safe_dump(with_images(images=[{**IMAGES[0], "requirements": "requirements.txt"}]))
    (folder / "our specs/lab.yaml").write_text(text)
    outcome = check([folder / "our specs"], Options(output=folder / "generated"))
    (found,) = outcome.compilations
    assert 'COPY ["our specs/requirements.txt", ' in dockerfile(found, "train")
    files = [one for one in found.artifacts if one.format == "dockerfile"]
    assert verified(files, Setting()) == []
    assert lifted(files, closed=True).of(Recipe) == plan_of(found).of(Recipe)


def test_a_secret_in_an_image_is_an_error_that_does_not_print_it(
    tmp_path: Path, trainyard: Command
) -> None:
    token = "hf_" + "a" * 30
    data = with_images(images=[{**IMAGES[0], "env": {"HF_TOKEN": token}}])
    folder = repository(tmp_path / "fleet", data)
    done = trainyard("check", "specs", cwd=folder)
    assert done.code == 1
    assert "RUN064" in done.out
    assert token not in done.out + done.err


def test_a_spec_without_images_needs_a_tag(tmp_path: Path) -> None:
    data = spec(job={"image": "ubuntu"})
    (found,) = compiled(repository(tmp_path / "fleet", data)).diagnostics
    assert found.code == "RES140"
    assert "pin it, like `ubuntu:1.0`" in found.help


# --- requirements


@pytest.mark.parametrize(
    ("line", "code"),
    [
        ("numpy>=2.0", "RES143"),
        ("einops==0.8.1", "RES143"),
        ("einops==0.8.1 --hash=md5:0cc175b9c0f1b6a831c399e269772661", "RES143"),
        (f"einops==0.8.1 --hash=sha256:{ONE[:60]}", "RES143"),
        ("einops @ https://example.com/einops.whl", "RES143"),
        ("-e ./train", "RES143"),
        ("-r other.txt", "RES143"),
        ("--extra-index-url https://packages.example.com/simple", "RES143"),
        (f"torch==2.9.0 --hash=sha256:{ONE}", "RES149"),
        (f"nvidia_nccl_cu12==2.27.3 --hash=sha256:{ONE}", "RES149"),
        (f"torch==2.8.0+cu129 --hash=sha256:{ONE}", ""),
        (f"six==1.17.0 ; python_version < '4' --hash=sha256:{ONE}", ""),
        (f"uvicorn[standard]==0.30.0 --hash=sha512:{ONE}{TWO}", ""),
        ("--index-url http://packages.example.com/simple", "RES236"),
        ("-i packages.example.com/simple", "RES236"),
        ("--index-url https://", "RES236"),
        ("--index-url https://packages.example.com/simple", ""),
        ("-i https://packages.example.com/simple", ""),
        ("--index-url=https://packages.example.com/cu129", ""),
        ("--index-url https://me:hunter22@packages.example.com/simple", "RES237"),
    ],
)
def test_a_requirement_that_is_not_locked_is_reported_at_its_line(
    tmp_path: Path, line: str, code: str
) -> None:
    folder = repository(tmp_path / "fleet", with_images(images=IMAGES[:1]), LOCKED + line + "\n")
    found = [pair for pair in codes(compiled(folder)) if pair[0] != "RES141"]
    assert found == ([(code, "requirements.txt:5")] if code else [])


def test_the_password_of_an_index_is_not_printed(tmp_path: Path, trainyard: Command) -> None:
    line = "--index-url https://me:hunter22@pypi.example.com/simple\n"
    folder = repository(tmp_path / "fleet", with_images(images=IMAGES[:1]), LOCKED + line)
    done = trainyard("check", "specs", cwd=folder)
    assert done.code == 1
    assert "RES237" in done.out
    assert "hunter22" not in done.out + done.err


def test_lines_of_a_requirement_are_one() -> None:
    lines = ["a==1 \\  ", "  --hash=x # why", "", "# no \\", "b==2 \\"]
    found = list(requirements(lines))
    assert [one.line for one in found] == [0, 4]
    assert found[0].text.startswith("a==1")


# --- Dockerfiles


def test_what_is_rendered_says_the_plan(compilation: Compilation) -> None:
    """What is read back is the recipe that it was made from."""
    plan = plan_of(compilation)
    files = [one for one in compilation.artifacts if one.format == "dockerfile"]
    assert len(files) == len(IMAGES)
    assert verified(files, Setting()) == []
    assert lifted(files, closed=True).of(Recipe) == plan.of(Recipe)


def test_nothing_of_the_environment_is_replaced(compilation: Compilation) -> None:
    """By the shell's own words, which Docker's are here (Dockerfile reference, environment replacement)."""
    text = dockerfile(compilation, "tools")
    (env,) = (one for one in instructions(text) if one.name == "ENV")
    done = subprocess.run(
        ["sh", "-c", f'{env.text}; printf %s "$GREETING"'],
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == IMAGES[1]["env"]["GREETING"]


@pytest.mark.parametrize("name", [image["name"] for image in IMAGES])
def test_hadolint_has_nothing_to_say(compilation: Compilation, name: str) -> None:
    assert list(hadolint.findings(dockerfile(compilation, name))) == []


def test_the_test_by_hadolints_rules_finds_what_they_find() -> None:
    text = """\
FROM ubuntu
RUN cd /tmp && apt-get update && apt-get install python3
RUN pip install torch | tee log
COPY a b
WORKDIR work
ADD c /c
USER root
"""
    found = set(hadolint.findings(text))
    assert found == {
        *("DL3006", "DL3003", "DL3009", "DL3008", "DL3014", "DL3015", "DL3059"),
        *("DL4006", "DL3042", "DL3013", "DL3045", "DL3000", "DL3020", "DL3002"),
    }


@pytest.mark.parametrize(
    ("text", "code", "line"),
    [
        ("FORM a@sha256:1\n", "SCH004", 0),
        ("RUN true\nFROM a\n", "SCH012", 0),
        ("# nothing\n", "SCH003", 0),
        ("FROM a\nCOPY b\n", "SCH003", 1),
        ("FROM a\n\nRUN echo 'b\n", "SCH012", 2),
    ],
)
def test_what_docker_refuses_is_a_fault(text: str, code: str, line: int) -> None:
    file = Artifact(path="Dockerfile", text=text, format="dockerfile")
    found = verified([file], Setting())
    assert (found[0].code, found[0].at and found[0].at[1:]) == (code, (line,))


def test_lines_of_a_dockerfile_are_read_as_docker_reads_them() -> None:
    text = """\
# escape=`
ARG TAG=1
FROM --platform=linux/arm64 a:${TAG} AS first
RUN one `
    # between
    && two
run <<END
three
END
COPY ["a b", "/c"]
"""
    found = list(instructions(text))
    assert [(one.line, one.name) for one in found] == [
        (1, "ARG"),
        (2, "FROM"),
        (3, "RUN"),
        (6, "RUN"),
        (9, "COPY"),
    ]
    assert found[1].flags == ("--platform=linux/arm64",)
    assert found[2].commands == ("one", "two")
    assert "three" in found[3].commands
    assert found[4].words == ("a b", "/c")


# --- stacks and script


def stack(compilation: Compilation, name: str) -> dict[str, Any]:
    path = f"bootstrap/stacks/image-{name}.yaml"
    (artifact,) = (one for one in compilation.artifacts if one.path == path)
    return artifact.body


def properties(compilation: Compilation, name: str, resource: str) -> dict[str, Any]:
    found: dict[str, Any] = stack(compilation, name)["Resources"][resource]["Properties"]
    return found


def test_a_repository_is_kept_scanned_and_never_moves_a_tag(compilation: Compilation) -> None:
    resource = stack(compilation, "tools")["Resources"]["Repository"]
    assert resource["DeletionPolicy"] == resource["UpdateReplacePolicy"] == "Retain"
    assert resource["Properties"]["ImageTagMutability"] == "IMMUTABLE"
    assert resource["Properties"]["ImageScanningConfiguration"] == {"ScanOnPush": True}
    text = resource["Properties"]["LifecyclePolicy"]["LifecyclePolicyText"]
    (rule,) = json.loads(text)["rules"]
    assert rule["selection"]["countNumber"] == 100
    assert len(text) >= 100, "ECR API: LifecyclePolicyText has 100 characters at least"


def test_a_project_builds_for_the_architecture_and_may_do_just_that(
    compilation: Compilation,
) -> None:
    arm = properties(compilation, "plain", "Project")
    assert arm["Environment"]["Type"] == "ARM_CONTAINER"
    assert arm["Source"]["Location"] == "https://github.com/example/fleet.git"
    commands = json.loads(arm["Source"]["BuildSpec"])["phases"]
    assert "--platform linux/arm64" in commands["build"]["commands"][0]
    assert len(commands["pre_build"]["commands"]) == 2, "the registry of the base too"
    role = properties(compilation, "plain", "Role")["Policies"][0]["PolicyDocument"]
    arns = [one["Resource"] for one in role["Statement"]]
    assert arns[-1] == "arn:aws:ecr:us-west-2:763104351884:repository/pytorch-training-arm64"
    tools = properties(compilation, "tools", "Role")["Policies"][0]["PolicyDocument"]
    actions = tools["Statement"][-1]["Action"]
    assert actions[0] == "codeconnections:GetConnection"
    for statement in role["Statement"]:
        if statement["Resource"] == "*":
            assert statement["Action"] == ["ecr:GetAuthorizationToken"]


@pytest.mark.slow
def test_cfn_lint_finds_nothing(folder: Path, trainyard: Command) -> None:
    assert trainyard("compile", "specs", cwd=folder).code == 0
    stacks = folder / "generated/lab/bootstrap/stacks"
    files = sorted(stacks.glob("image-*.yaml")) + sorted(stacks.glob("cache-*.yaml"))
    assert len(files) == len(IMAGES) + 1
    assert cfn_lint.findings(files) == ""


AWS = """\
#!/usr/bin/env bash
echo "$@" >>"$CALLS"
case "$1 $2" in
  "codebuild start-build") echo trainyard:1 ;;
  "codebuild batch-get-builds") echo "${STATUS:-SUCCEEDED}" ;;
  "ecr describe-images") echo "sha256:$DIGEST" ;;
esac
"""


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")
def test_the_script_builds_a_commit_and_writes_its_digest(
    tmp_path: Path, trainyard: Command
) -> None:
    folder = tmp_path / "fleet"
    repository(folder, with_images())
    shutil.rmtree(folder / ".git")
    git = ["git", "-c", "user.name=t", "-c", "user.email=t@example.com"]
    subprocess.run([*git, "init", "-q"], cwd=folder, check=True)
    assert trainyard("compile", "specs", cwd=folder).code == 0
    calls = tmp_path / "calls"
    environment = {
        **os.environ,
        "PATH": stand_ins(tmp_path / "bin", {"aws": AWS}),
        "CALLS": str(calls),
        "DIGEST": TWO,
        "POLL_SECONDS": "0",
    }
    script = ["bash", "generated/lab/bootstrap/images.sh"]

    def run(*words: str, **more: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [*script, *words],
            cwd=folder,
            env={**environment, **more},
            capture_output=True,
            text=True,
            check=False,
        )

    assert run("build", "train").returncode != 0, "nothing is committed"
    subprocess.run([*git, "add", "-A"], cwd=folder, check=True)
    subprocess.run([*git, "commit", "-qm", "images"], cwd=folder, check=True)
    assert run().returncode == 0
    deployed = calls.read_text()
    assert deployed.count("cloudformation deploy") == len(IMAGES)
    assert deployed.count("set-stack-policy") == len(IMAGES)
    assert "Update:Replace" in deployed
    assert run("build", "train", STATUS="FAILED").returncode == 1
    assert not (folder / "specs/images/lab/train.lock").exists()
    done = run("build", "train")
    assert done.returncode == 0, done.stderr
    head = subprocess.run(["git", "rev-parse", "HEAD"], cwd=folder, capture_output=True, text=True)
    assert f"--source-version {head.stdout.strip()}" in calls.read_text()
    after = compiled(folder)
    assert codes(after) == [], "what the script wrote is the lock of this recipe"
    assert plan_of(after).of(TrainJob)[0].image.endswith(f"@sha256:{TWO}")
    assert run("build", "nothing").returncode == 1
    assert run("destroy").returncode == 2


# --- caches

SECRET = "arn:aws:secretsmanager:us-west-2:111122223333:secret:ecr-pullthroughcache/hub-AbCdEf"


def test_a_base_is_pulled_through_its_cache(tmp_path: Path) -> None:
    caches = [
        {"registry": "public.ecr.aws"},
        {"registry": "docker.io", "prefix": "mirror/hub", "secret": SECRET},
    ]
    images = [IMAGES[0], {**IMAGES[1], "base": f"python:3.12@sha256:{TWO}"}, IMAGES[2]]
    data = with_images(images=images, imageCaches=caches)
    found = compiled(repository(tmp_path / "fleet", data))
    own = "111122223333.dkr.ecr.us-west-2.amazonaws.com"
    path = DLC.removeprefix("public.ecr.aws/")
    assert f"FROM {own}/lab/ecr-public/{path}@sha256:{ONE}" in dockerfile(found, "train")
    assert f"FROM {own}/mirror/hub/library/python:3.12@sha256:{TWO}" in dockerfile(found, "tools")
    assert f"FROM {IMAGES[2]['base']}" in dockerfile(found, "hub")
    (rule,) = (
        one.body["Resources"]["Rule"]["Properties"]
        for one in found.artifacts
        if one.path == "bootstrap/stacks/cache-docker-hub.yaml"
    )
    assert rule == {
        "EcrRepositoryPrefix": "mirror/hub",
        "UpstreamRegistry": "docker-hub",
        "UpstreamRegistryUrl": "registry-1.docker.io",
        "CredentialArn": SECRET,
    }
    role = properties(found, "train", "Role")["Policies"][0]["PolicyDocument"]
    pull = role["Statement"][-1]
    assert "ecr:BatchImportUpstreamImage" in pull["Action"]
    assert pull["Resource"].endswith(":repository/lab/ecr-public/*")
    assert codes(found) == [("RES141", codes(found)[0][1])]


def test_a_cache_alone_is_a_stack(tmp_path: Path) -> None:
    data = spec(imageCaches=[{"registry": "quay.io"}], name="a" * 40)
    found = compiled(repository(tmp_path / "fleet", data))
    paths = {one.path for one in found.artifacts}
    assert "bootstrap/stacks/cache-quay.yaml" in paths
    assert "bootstrap/images.sh" not in paths
    assert codes(found) == []


@pytest.mark.parametrize(
    ("caches", "code"),
    [
        ([{"registry": "ghcr.io"}], "SPC005"),
        ([{"registry": "quay.io", "secret": SECRET}], "SPC005"),
        ([{"registry": "quay.io", "prefix": "a" * 31}], "SPC005"),
        ([{"registry": "nvcr.io"}], "SPC004"),
        ([{"registry": "quay.io"}, {"registry": "quay.io"}], "RES009"),
    ],
)
def test_what_ecr_refuses_of_a_cache_is_a_fault(
    tmp_path: Path, caches: list[dict[str, Any]], code: str
) -> None:
    found = compiled(repository(tmp_path / "fleet", spec(imageCaches=caches)))
    assert [one for one, _ in codes(found)] == [code]


# --- workflows


def workflow(compilation: Compilation) -> dict[str, Any]:
    path = "bootstrap/images/hub/workflow.yaml"
    (artifact,) = (one for one in compilation.artifacts if one.path == path)
    return copy.deepcopy(artifact.body)


def test_a_workflow_may_do_what_it_does_and_no_more(compilation: Compilation) -> None:
    body = workflow(compilation)
    assert body["permissions"] == {"contents": "write", "id-token": "write"}
    assert body["on"]["push"]["branches-ignore"] == ["main"]
    assert set(body["on"]["push"]["paths"]) == {
        "generated/lab/bootstrap/images/hub/Dockerfile",
        "train/requirements.txt",
        "train/src",
        "train/src/**",
    }
    role = properties(compilation, "hub", "Role")
    (trust,) = role["AssumeRolePolicyDocument"]["Statement"]
    assert trust["Condition"]["StringLike"] == {
        "token.actions.githubusercontent.com:sub": "repo:example/fleet:ref:refs/heads/*"
    }
    steps = body["jobs"]["build"]["steps"]
    assert steps[2]["with"]["role-to-assume"].endswith(f":role/{role['RoleName']}")
    assert "Project" not in stack(compilation, "hub")["Resources"]


def test_what_a_workflow_writes_is_the_lock(tmp_path: Path) -> None:
    """Its last step, run in a repository with a stand-in for `aws`."""
    folder = repository(tmp_path / "fleet", with_images(job={"image": "hub"}))
    first = compiled(folder)
    file = folder / "generated/lab/bootstrap/images/hub/Dockerfile"
    file.parent.mkdir(parents=True)
    file.write_text(dockerfile(first, "hub"))
    path = stand_ins(tmp_path / "bin", {"aws": AWS, "git": "#!/bin/sh\nexit 0\n"})
    variables = {"DIGEST": TWO, "CALLS": os.devnull, "COMMIT": "0" * 40}
    step = workflow(first)["jobs"]["build"]["steps"][-1]
    subprocess.run(
        ["bash", "-e", "-c", step["run"]],
        cwd=folder,
        env={**os.environ, **variables, "PATH": path},
        check=True,
    )
    after = compiled(folder)
    assert codes(after) == []
    assert plan_of(after).of(TrainJob)[0].image.endswith(f"/lab/hub@sha256:{TWO}")


@pytest.mark.parametrize(
    ("path", "value", "code"),
    [
        (("jobs", "build", "steps", 0, "uses"), "actions/checkout@v7", "SCH006"),
        (("jobs", "build", "steps", 0, "run"), "true", "SCH013"),
        (("jobs", "build", "steps", 1, "run"), "echo ${{ github.ref }}", "SCH012"),
        (("jobs", "build", "steps", 1, "run"), "echo 'a", "SCH012"),
        (("jobs", "build", "steps", 1, "run"), "echo ${{ github.ref", "SCH012"),
        (("jobs", "build", "steps", 1), "true", "SCH002"),
        (("jobs",), ["build"], "SCH002"),
        (("jobs", "build", "runs_on"), "ubuntu-24.04", "SCH001"),
        (("permissions", "contents"), "admin", "SCH004"),
        (("on",), {}, "SCH005"),
    ],
)
def test_what_github_refuses_is_a_fault(
    compilation: Compilation, path: tuple[Any, ...], value: Any, code: str
) -> None:
    body = workflow(compilation)
    assert verified([Artifact(body, "a.yaml", format="workflow")], Setting()) == []
    place: Any = body
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = value
    faults = verified([Artifact(body, "a.yaml", format="workflow")], Setting())
    assert code in {fault.code for fault in faults}


@pytest.mark.parametrize(
    ("url", "build", "fact"),
    [
        (None, {"codeBuild": {}}, "the spec does not say which it is"),
        ("https://gitlab.com/a/b", {"githubActions": {}}, "its host is `gitlab.com`"),
        ("https://gitlab.com/a/b", {"codeBuild": {}}, ""),
        ("ssh://git@github.com/a/b.git", {"githubActions": {}}, ""),
    ],
)
def test_a_build_needs_a_repository_that_it_can_read(
    tmp_path: Path, url: str | None, build: dict[str, Any], fact: str
) -> None:
    images = [{**IMAGES[0], "build": build}]
    flux = {"url": url} if url else None
    data = with_images(images=images, flux=flux)
    found = compiled(repository(tmp_path / "fleet", data)).diagnostics
    facts = [each.message for each in found if each.code == "RES147"]
    assert len(facts) == bool(fact)
    assert all(fact in message for message in facts)


@pytest.mark.parametrize(("length", "is_found"), [(37, False), (38, True)])
def test_the_role_of_a_workflow_has_a_name_that_iam_takes(
    tmp_path: Path, length: int, is_found: bool
) -> None:
    """`trainyard-lab-image-NAME` has 64 characters at most."""
    name = "a" * (length + 7)
    images = [{**IMAGES[0], "name": name, "build": {"githubActions": {}}}]
    data = with_images(images=images, job={"image": name})
    found = compiled(repository(tmp_path / "fleet", data)).diagnostics
    assert any("IAM takes 64" in each.message for each in found) is is_found


def test_a_workflow_builds_again_when_a_branch_is_pushed(tmp_path: Path) -> None:
    folder = repository(tmp_path / "fleet", with_images(job={"image": "hub"}))
    built(folder, "hub", recipe_of(compiled(folder), "hub"))
    (folder / "train/requirements.txt").write_text(LOCKED.replace("0.8.1", "0.8.2"))
    (fact,) = compiled(folder).diagnostics
    assert fact.code == "RES142"
    assert "build it again: push a branch" in fact.help


def test_a_repository_of_a_key_of_its_own(tmp_path: Path) -> None:
    key = "arn:aws:kms:us-west-2:111122223333:key/mrk-0a1b2c3d4e5f60718293a4b5c6d7e8f9"
    images = [{**IMAGES[0], "repository": {"kmsKey": key}}]
    found = compiled(repository(tmp_path / "fleet", with_images(images=images)))
    stacks = [each.body for each in found.artifacts if each.format == "cloudformation"]
    (repositories,) = (
        [
            each["Properties"]
            for each in body["Resources"].values()
            if each["Type"] == "AWS::ECR::Repository"
        ]
        for body in stacks
        if "AWS::ECR::Repository" in str(body)
    )
    assert [each["EncryptionConfiguration"] for each in repositories] == [
        {"EncryptionType": "KMS", "KmsKey": key}
    ]


@pytest.mark.parametrize(("plugin", "codes_"), [("1.14.0", ["RES146"]), ("1.15.0", [])])
def test_a_plugin_knows_the_nodes_of_its_job(
    tmp_path: Path, plugin: str, codes_: list[str]
) -> None:
    images = [{**IMAGES[0], "contents": {"nccl": "2.27.3", "awsOfiNccl": plugin}}]
    pool = {"instanceTypes": ["p6-b200.48xlarge"], "zones": ["us-west-2a"]}
    data = with_images(images=images, pool=pool)
    found = compiled(repository(tmp_path / "fleet", data)).diagnostics
    assert [each.code for each in found if each.code == "RES146"] == codes_


def test_only_an_init_container_runs_an_image_that_is_built(tmp_path: Path) -> None:
    """Nothing is known of the image that the job itself runs."""
    init = [{"name": "fetch", "image": "tools", "command": ["fetch"]}]
    data = with_images(job={"image": "registry.test/train:1.0", "initContainers": init})
    folder = repository(tmp_path / "fleet", data)
    built(folder, "tools", recipe_of(compiled(folder), "tools"))
    found = compiled(folder)
    (job,) = plan_of(found).of(TrainJob)
    assert job.image == "registry.test/train:1.0"
    (made,) = (each for each in plan_of(found).of(MadeImage) if each.name == "tools")
    assert made.reference is not None
    assert made.reference in json.dumps([each.body for each in found.manifests])


# --- merges and reasons


def test_a_document_of_its_own_names_files_from_where_it_lies(tmp_path: Path) -> None:
    folder = repository(tmp_path / "fleet", with_images(images=None))
    document = {
        "apiVersion": "trainyard.dev/v1alpha1",
        "kind": "TrainingImage",
        "metadata": {"name": "train"},
        "spec": {
            "base": f"{DLC}@sha256:{ONE}",
            "requirements": "requirements.txt",
            "sources": [{"from": "src", "to": "/workspace/src"}],
            "build": {"codeBuild": {}},
        },
    }
    team = folder / "specs/team"
    (folder / "train").rename(team)
    (team / "image.yaml").write_text(yaml.safe_dump(document))
    found = compiled(folder)
    assert [code for code, _ in codes(found)] == ["RES141"]
    (made,) = plan_of(found).of(MadeImage)
    assert made.lock == "specs/team/images/lab/train.lock"
    assert "COPY specs/team/requirements.txt " in dockerfile(found, "train")
    assert astray(plan_of(found)) == []


def test_an_image_that_comes_changes_nothing_of_others(tmp_path: Path) -> None:
    """Two teams that each add an image merge (ADR 0009); the script is the same for any number."""

    def written(folder: Path, images: list[dict[str, Any]]) -> dict[str, str]:
        done = compiled(repository(folder, with_images(images=images)))
        return {one.path: one.content or json.dumps(one.body) for one in done.artifacts}

    one = written(tmp_path / "one", IMAGES[:1])
    both = written(tmp_path / "both", IMAGES[:2])
    assert {path for path in both if one.get(path) != both[path]} == {
        "bootstrap/images/tools/Dockerfile",
        "bootstrap/stacks/image-tools.yaml",
        "bootstrap/image-tools.md",
    }


def test_the_user_is_made_before_files_belong_to_it(compilation: Compilation) -> None:
    text = dockerfile(compilation, "tools")
    group = text.index(" groupadd --non-unique --gid 10001 trainer")
    user = text.index(" useradd --no-log-init --non-unique --uid 10001 --gid 10001")
    assert group < user < text.index("COPY --chown=10001:10001 ")
    assert text.rstrip().endswith("USER 10001")
    as_root = dockerfile(compilation, "plain")
    assert "useradd" not in as_root
    assert "USER" not in as_root


def test_derived_values_have_reasons(compilation: Compilation) -> None:
    derived = {(each.object, each.field): each for each in plan_of(compilation).derived}
    assert derived["image/train", "torch"].value == "2.8.0"
    assert derived["image/train", "cuda"].value == "12.9"
    assert derived["image/train", "cuda"].reason == "the tag of the base says so"
    assert derived["image/train", "awsOfiNccl"].value == "1.16.3"
    assert derived["image/plain", "arch"].value == "arm64"
    assert derived["image/tools", "user"].value == "10001"
    assert all(each.reason for each in derived.values() if "image/" in each.object)


def test_the_spec_may_say_what_a_base_contains(tmp_path: Path) -> None:
    said = copy.deepcopy(IMAGES)
    said[2]["contents"] = {"torch": "2.8.0", "cuda": "12.9"}
    found = compiled(repository(tmp_path / "fleet", with_images(images=said)))
    derived = {(value.object, value.field): value for value in plan_of(found).derived}
    torch = derived["image/hub", "torch"]
    assert (torch.value, torch.reason) == ("2.8.0", "set by the spec")
    assert ("image/plain", "torch") not in derived


def test_the_newest_installer_that_is_known_is_not_doubted(tmp_path: Path) -> None:
    said = copy.deepcopy(IMAGES)
    newest = max(BUNDLED, key=lambda version: [int(part) for part in version.split(".")])
    said[1]["efaInstaller"]["version"] = newest
    found = compiled(repository(tmp_path / "fleet", with_images(images=said)))
    assert "RES247" not in dict(codes(found))


def test_what_tags_say() -> None:
    said = versions_of(f"{DLC}@sha256:{ONE}")
    assert (said.torch, said.cuda) == ("2.8.0", "12.9")
    hub = versions_of("pytorch/pytorch:2.9.1-cuda13.0-cudnn9-runtime")
    assert (hub.torch, hub.cuda) == ("2.9.1", "13.0")
    assert versions_of("nvcr.io/nvidia/pytorch:24.12-py3").torch is None
    assert (
        arch_of("763104351884.dkr.ecr.us-west-2.amazonaws.com/pytorch-training-arm64:2") == "arm64"
    )
    assert arch_of(f"registry.test/a@sha256:{'a' * 64}") is None
    assert bundled("1.42.0") == "1.15.0"
    assert known_since("p6-b200.48xlarge") == (1, 15, 0)
    assert known_since("p5.48xlarge") is None
    assert least_nccl("1.10.0") == (2, 17, 1)
    assert least_nccl("1.9.2") == (2, 4, 8)
    assert re.fullmatch(r"\d+\.\d+\.\d+", bundled("1.51.0") or "")
