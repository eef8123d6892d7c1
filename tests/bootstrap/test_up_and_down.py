"""``up.sh`` and ``down.sh``, run from start to end against a world that refuses what AWS refuses."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from answering import run, serving
from aws_cli import unknown_options
from builders import plan_of, spec
from drawn import drawn
from running import EXAMPLE, SPECS, copied
from trainyard.eks.jobs.kinds import kinds_of_objects
from trainyard.eks.third_party_workloads.lift import KINDS
from trainyard.eks.third_party_workloads.resources import job_resources
from trainyard.output.emit.marker import marked
from trainyard.run import driver, writer
from trainyard.run.lower import lower
from trainyard.run.outcome import Options
from trainyard.run.patching import apply_patches
from trainyard.verify.formats import written
from world import World

pytestmark = pytest.mark.slow

NETWORK = {
    "create": {"cidr": "10.0.0.0/16", "zones": ["us-west-2a", "us-west-2b"], "nat": "single"}
}
OPEN = {"eks": {"apiServer": {"public": ["203.0.113.0/24"]}}}
STORAGE = [
    {"name": "raw", "s3": {"create": {}}},
    {"name": "fast", "fsxLustre": {"create": {"size": "4800Gi", "throughputPerTiB": 250}}},
]
MOUNT = {"mounts": [{"storage": "fast", "path": "/data"}]}
TERRAFORM = {"tool": "terraform", "state": {"bucket": "state-111122223333"}}
FLUX = {"url": "https://github.com/example/fleet"}

PROJECTED = {
    "op": "add",
    "path": "/spec/template/spec/replicatedJobs/0/template/spec/template/spec/volumes/-",
    "value": {
        "name": "all",
        "projected": {
            "sources": [
                {"secret": {"items": [{"path": "user", "key": "user"}], "name": "gcp-key"}},
                {"secret": {"name": "gcp-key"}},
                {"secret": {"name": "ngc", "items": [{"key": "token", "path": "token"}]}},
            ]
        },
    },
}


def kept(name: str, stored: str, **more: Any) -> dict[str, Any]:
    """A Secret of what AWS Secrets Manager keeps."""
    manager = {"existing": {"name": stored}, **more}
    return {"name": name, "namespaces": ["training"], "secretsManager": manager}


MADE: dict[str, dict[str, Any]] = {
    "terraform": spec(
        storage=STORAGE, job=MOUNT, network=NETWORK, platform=OPEN, bootstrap=TERRAFORM, flux=FLUX
    ),
    "auto": spec(platform={"eks": {"autoMode": {}, **OPEN["eks"]}}, flux=FLUX),
    "spot": spec(
        pool={
            "instanceTypes": ["g6e.4xlarge", "g6e.16xlarge"],
            "capacity": [{"spot": {}}, {"onDemand": {}}],
            "placement": "none",
        },
        flux=FLUX,
        platform=OPEN,
    ),
    "private": spec(
        storage=STORAGE,
        job={**MOUNT, "secretEnv": [{"env": "T", "secret": "hf", "key": "t"}]},
        network=NETWORK,
        flux=FLUX,
    ),
    "named": spec(
        job={
            "imagePullSecrets": ["ngc"],
            "volumes": [{"name": "gcp", "path": "/gcp", "secret": {"secretName": "gcp-key"}}],
        },
        patches=[{"target": {"kind": "ClusterTrainingRuntime"}, "patch": [PROJECTED]}],
        flux=FLUX,
        platform=OPEN,
    ),
    "notified": spec(
        monitoring={},
        notifications={
            "receivers": [
                {"name": "hook", "webhook": {"url": {"secret": "hook", "key": "address"}}},
                {"name": "failed", "webhook": {"url": {"secret": "failed", "key": "address"}}},
            ],
            "default": "hook",
            "flux": "failed",
        },
        flux=FLUX,
        platform={"eks": {"systemNodes": {"instanceType": "c7g.4xlarge"}, **OPEN["eks"]}},
    ),
    "managed": spec(
        monitoring={"managed": {"grafana": {"authenticationProviders": ["AWS_SSO"]}}},
        flux=FLUX,
        platform={"eks": {"systemNodes": {"instanceType": "c7g.4xlarge"}, **OPEN["eks"]}},
    ),
    "kept": spec(
        secrets=[
            kept("wandb", "team/wandb", keys={"key": "api_key"}),
            kept("licence", "team/licence", keys={"key": ""}),
            kept("tokens", "team/tokens"),
            kept("all", "team/wandb-2", keys={"whole": "", "key": "api_key"}),
        ],
        flux=FLUX,
        platform=OPEN,
    ),
}
ALL = ["workshop", "workshop-h100", "two-teams", "terraform", "auto", "private"]
TOKENS = {
    "TRAINYARD_SECRET_TEAM_A_HF_TOKEN_HF_TOKEN": 'a "b"\\c',
    "TRAINYARD_SECRET_TRAINING_HF_T": "t",
    "TRAINYARD_SECRET_TRAINING_HF_TOKEN_HF_TOKEN": "t",
    "GITHUB_TOKEN": "g",
    "OWNER": "o",
    "REPOSITORY": "r",
}


@cache
def compiled() -> dict[str, dict[str, bytes]]:
    """What specs of tests/example compile to, by cluster and path."""
    specs = [SPECS / "workshop", SPECS / "two-teams.yaml"]
    options = Options(output=EXAMPLE / "generated")  # paths of images are from the folder above
    done = driver.check(specs, options)
    assert not done.failed
    return {each.name: writer.rendered(each, options) for each in done.compilations}


@cache
def tree(name: str) -> dict[str, bytes]:
    """What is written for a cluster, by path in its folder."""
    if name not in MADE:
        return compiled()[name]
    plan = plan_of(MADE[name])
    _, artifacts, faults = apply_patches(plan, lower(plan))
    assert not faults
    return {each.path: marked(each.path, written(each)) for each in artifacts}


class Lab:
    """A cluster's folder, the world around it, and the scripts."""

    def __init__(self, name: str, folder: Path, port: int, world: World) -> None:
        self.name, self.folder, self.port, self.world = name, folder, port, world

    def run(self, script: str, *words: str, **env: str) -> subprocess.CompletedProcess[str]:
        done = run(
            self.world, self.port, self.folder / "bootstrap" / script, *words, **{**TOKENS, **env}
        )
        assert not self.world.faults, (self.world.faults, done.stderr)
        return done

    def up(self) -> None:
        done = self.run("up.sh")
        if "images were built" in done.stderr:  # as a person does: compile, commit, push, and go on
            done = self.run("up.sh", "--from", "images")
        assert done.returncode == 0, done.stdout + done.stderr


@pytest.fixture
def lab(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Lab]:
    yield from made(request.param, tmp_path)


@cache
def repository(name: str) -> TemporaryDirectory[str]:
    """A folder with a cluster's output, committed."""
    folder = TemporaryDirectory()
    cluster, _ = name_and_region(name)
    for path, data in tree(name).items():
        target = Path(folder.name) / "generated" / cluster / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(data)
    uploaded(Path(folder.name), tree(name))
    (Path(folder.name) / ".gitignore").write_text("*\n")
    git = ["git", "-c", "user.email=a@b", "-c", "user.name=a", "-C", folder.name]
    subprocess.run([*git, "init", "-q"], check=True)
    subprocess.run([*git, "add", "-f", "generated"], check=True)
    subprocess.run([*git, "commit", "-qm", "a"], check=True)
    return folder


def uploaded(repository: Path, files: dict[str, bytes]) -> None:
    """Makes the folders of the repository that are uploaded to buckets."""
    for path, data in files.items():
        if path.startswith("bootstrap/uploads/"):
            for name in re.findall(r"^upload (\S+) ", data.decode(), re.MULTILINE):
                (repository / name).mkdir(parents=True, exist_ok=True)


def name_and_region(name: str) -> tuple[str, str]:
    """As the scripts of a cluster say them."""
    script = tree(name)["bootstrap/up.sh"].decode()
    found = re.search(r"^cluster=(\S+) region=(\S+)", script, re.MULTILINE)
    assert found is not None
    return found[1], found[2]


def made(name: str, tmp_path: Path) -> Iterator[Lab]:
    cluster, region = name_and_region(name)
    folder = tmp_path / "generated" / cluster
    copied(Path(repository(name).name), tmp_path)
    world = World(folder, cluster, region)
    with serving(world) as port:
        yield Lab(name, folder, port, world)


def everywhere(*names: str) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("lab", names, indirect=True)


@everywhere(*ALL)
def test_it_goes_up_and_down_and_nothing_is_left(lab: Lab) -> None:
    lab.up()
    before = lab.world.state()
    assert before["cluster"]
    assert before["things"]["instance"]
    assert lab.world.delivered
    lab.up()
    assert lab.world.state() == before
    done = lab.run("down.sh", "--delete-data")
    assert done.returncode == 0, done.stdout + done.stderr
    left = {kind: each for kind, each in lab.world.paid().items() if kind not in ("secret", "role")}
    expected = {"bucket": ["state-111122223333"]} if lab.name == "terraform" else {}
    assert left == expected
    assert not lab.world.stacks
    assert not lab.world.modules
    assert lab.run("down.sh", "--delete-data").returncode == 0
    for call in lab.world.calls:
        if call[0] == "aws":
            assert not unknown_options(call), call


@everywhere(*drawn(("workshop", "private", "terraform"), 1))
def test_killed_after_each_change_and_run_again_it_ends_the_same(lab: Lab) -> None:
    for script, words in (("up.sh", ()), ("down.sh", ("--delete-data",))):
        interrupted: set[str] = set()

        def first(call: list[str], seen: set[str] = interrupted) -> bool:
            key = " ".join(call[:3])
            new = key not in seen
            seen.add(key)
            return new

        lab.world.kill = first
        kills = 0
        while (done := lab.run(script, *words)).returncode != 0:
            if done.returncode == -9:
                kills += 1
            else:
                assert "images were built" in done.stderr, done.stdout + done.stderr
            assert kills < 150
        assert kills > 5
        lab.world.kill = lambda call: False
        after = lab.world.state()
        assert lab.run(script, *words).returncode == 0
        assert lab.world.state() == after
        if script == "up.sh":
            up = after
    kinds = {"instance", "volume", "file-system", "interface", "address", "gateway", "vpc"}
    assert not kinds & set(lab.world.paid())
    assert up["cluster"]
    assert not lab.world.cluster_made


@everywhere("two-teams")
def test_gpu_nodes_come_after_everything_that_waits(lab: Lab) -> None:
    steps = [line.split()[0] for line in lab.run("up.sh", "--list").stdout.splitlines()]
    order = [
        "quotas",
        "spot",
        "roles",
        "cluster",
        "parts",
        "storage",
        "images",
        "secrets",
        "flux",
        "nodes",
        "accept",
    ]
    assert [step for step in steps if step in order] == order
    assert not lab.world.calls


@everywhere("workshop")
def test_a_dry_run_changes_nothing(lab: Lab) -> None:
    done = lab.run("up.sh", "--dry-run")
    assert done.returncode == 0
    assert lab.world.state()["things"] == {}
    assert done.stdout.endswith("this was a dry run: nothing was changed\n")
    assert "is up" not in done.stdout
    assert "  + flux install --version=" in done.stdout
    lab.up()
    before = lab.world.state()
    for words in ((), ("--keep-data",), ("--delete-data",)):
        done = lab.run("down.sh", *words, "--dry-run")
        assert done.returncode == 0, done.stderr
    assert lab.world.state() == before


@everywhere("workshop")
def test_folders_of_the_repository_are_uploaded_before_anything_reads_them(lab: Lab) -> None:
    bucket = "s3://workshop-datasets-111122223333-ap-northeast-2/code"
    lab.up()
    calls = lab.world.calls
    (upload,) = [index for index, call in enumerate(calls) if call[:3] == ["aws", "s3", "sync"]][:1]
    assert calls[upload][3].endswith("/specs/workshop/code")
    assert calls[upload][4] == bucket
    assert "--delete" not in calls[upload]
    made = next(
        index for index, call in enumerate(calls) if "trainyard-workshop-storage-datasets" in call
    )
    flux = next(index for index, call in enumerate(calls) if call[:2] == ["flux", "install"])
    assert made < upload < flux
    (lab.folder.parent.parent / "specs/workshop/code").rmdir()
    done = lab.run("up.sh", "--from", "uploads")
    assert done.returncode == 1
    assert "there is no folder specs/workshop/code in" in done.stderr


@everywhere("workshop")
def test_a_cluster_that_another_program_made_is_left_alone(lab: Lab) -> None:
    lab.world.cluster_made = True
    done = lab.run("up.sh", "--dry-run")
    assert done.returncode == 0
    assert "no stack of eksctl is: nobody made it by this script" in done.stderr
    done = lab.run("up.sh")
    assert done.returncode == 1
    assert not lab.world.stacks


@everywhere("workshop")
@pytest.mark.parametrize("words", [("--form", "flux"), ("--from", "fluks"), ("--from",)])
def test_an_unknown_option_or_step_gets_the_list(lab: Lab, words: tuple[str, ...]) -> None:
    for script in ("up.sh", "down.sh"):
        done = lab.run(script, *words)
        assert done.returncode == 2
        assert "flux " in done.stderr
    assert not lab.world.calls


@everywhere("workshop")
def test_data_is_neither_kept_nor_deleted_without_a_word(lab: Lab) -> None:
    lab.up()
    before = lab.world.state()
    done = lab.run("down.sh")
    assert done.returncode == 1
    assert "--keep-data" in done.stderr
    assert "--type EXPORT_TO_REPOSITORY" in done.stderr
    assert "file-system fs-trainyard-workshop-storage-scratch" in done.stdout
    done = lab.run("down.sh", "--keep-data")  # its file system lies in the VPC that goes
    assert done.returncode == 1
    assert "cannot be deleted while it is there" in done.stderr
    assert "--type EXPORT_TO_REPOSITORY" in done.stderr
    assert lab.world.state() == before
    done = lab.run("down.sh", "--delete-data=scratch")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "--type EXPORT_TO_REPOSITORY" in done.stdout
    assert "stays bucket workshop-datasets" in done.stdout
    assert set(lab.world.paid()) <= {"bucket", "repository", "secret", "log"}


@everywhere("private")
def test_a_file_system_that_is_kept_keeps_its_network(lab: Lab) -> None:
    lab.up()
    done = lab.run("down.sh", "--keep-data")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "stays: the network of these file systems" in done.stdout
    assert lab.world.of("vpc")
    assert lab.world.of("file-system")
    assert not lab.world.of("instance")
    done = lab.run("down.sh", "--delete-data", "--from", "storage")
    assert done.returncode == 0, done.stdout + done.stderr
    assert not lab.world.of("vpc")


@everywhere("two-teams")
def test_the_proof_names_what_is_left(lab: Lab) -> None:
    lab.up()
    assert lab.run("down.sh", "--delete-data").returncode == 0
    lab.world.add("volume", "vol-9", tags={f"kubernetes.io/cluster/{lab.world.cluster}": "owned"})
    done = lab.run("down.sh", "--from", "proof")
    assert done.returncode == 1
    assert "left: volume vol-9: aws ec2 delete-volume --volume-id vol-9" in done.stderr
    lab.world.deny = "describe-volumes"
    done = lab.run("down.sh", "--from", "proof")
    assert done.returncode != 0
    assert "no instance" not in done.stdout


@everywhere("two-teams")
def test_jobs_of_every_kind_end_before_their_nodes(lab: Lab) -> None:
    lab.up()
    assert lab.run("down.sh", "--delete-data").returncode == 0
    calls = [" ".join(each) for each in lab.world.calls]
    steps = [
        "flux suspend",
        "kubectl delete trainjobs",
        "kubectl delete jobsets",
        "kubectl delete nodepools",
        "kubectl delete ec2nodeclasses",
        "eksctl delete cluster",
    ]
    places = [
        next(index for index, call in enumerate(calls) if call.startswith(step)) for step in steps
    ]
    assert places == sorted(places)
    assert any(call.startswith("kubectl delete rayjobs.ray.io") for call in calls)


def test_every_kind_that_is_written_or_read_is_deleted() -> None:
    named = {tuple(each.split("/")) for each in KINDS} | kinds_of_objects().keys()
    operators = {kind.operator for kind in kinds_of_objects().values() if kind.operator}
    assert set(job_resources(operators)) == {
        f"{kind.lower()}s.{group}" for group, kind in named if group not in ("", "apps")
    }


@everywhere("two-teams")
def test_the_wrong_account_stops_at_once(lab: Lab) -> None:
    lab.world.account = "999999999999"
    for script in ("up.sh", "down.sh"):
        done = lab.run(script)
        assert done.returncode == 1
        assert "999999999999" in done.stderr
    assert len(lab.world.calls) == 2


@everywhere("workshop")
def test_too_small_a_quota_stops_and_says_what_to_ask(lab: Lab) -> None:
    lab.world.quota = 4.0
    done = lab.run("up.sh")
    assert done.returncode == 1
    assert "--quota-code L-8F1B9C74 --desired-value 4800" in done.stderr
    assert not lab.world.stacks


@everywhere("spot")
def test_spot_has_its_role_and_its_quota_by_the_largest_type(lab: Lab) -> None:
    lab.up()
    assert list(lab.world.of("role")) == ["AWSServiceRoleForEC2Spot"]
    page = (lab.folder / "bootstrap/pools/gpu.md").read_text()
    assert "quota ec2 L-3819A6DF 64\n" in page
    assert "quota ec2 L-DB2E81BA 64\n" in page


@everywhere("workshop", "private")
def test_a_secret_is_made_and_never_shown(lab: Lab) -> None:
    done = lab.run(
        "up.sh", TRAINYARD_SECRET_TEAM_A_HF_TOKEN_HF_TOKEN="", TRAINYARD_SECRET_TRAINING_HF_T=""
    )
    if "images were built" in done.stderr:
        done = lab.run("up.sh", "--from", "images", TRAINYARD_SECRET_TEAM_A_HF_TOKEN_HF_TOKEN="")
    assert done.returncode == 1
    assert "--from secrets" in done.stderr
    assert not lab.world.delivered
    done = lab.run("up.sh", "--from", "secrets")
    assert done.returncode == 0, done.stderr
    if lab.name == "workshop":
        assert lab.world.of("secret") == {"team-a/hf-token": {"value": {"hf_token": 'a "b"\\c'}}}
    assert 'a "b"' not in done.stdout + done.stderr
    assert all('a "b"' not in " ".join(call) for call in lab.world.calls)


@everywhere("named")
def test_secrets_that_pull_images_or_are_volumes_are_made(lab: Lab) -> None:
    """They stand in the runtime of a TrainJob."""
    folder = lab.folder.parent / "values"
    done = lab.run("up.sh", "--dry-run", "--from", "secrets")
    assert "of the cluster: training gcp-key, all of its files" in done.stdout
    assert "of the cluster: training ngc .dockerconfigjson" in done.stdout
    assert "of the cluster: training gcp-key user\n" in done.stdout
    assert "of the cluster: training ngc token\n" in done.stdout
    assert done.stdout.count("of the cluster:") == 4
    included = lab.folder / "include" / "training.secret-ngc.yaml"
    included.parent.mkdir()
    included.touch()
    assert "training ngc" not in lab.run("up.sh", "--dry-run", "--from", "secrets").stdout
    included.unlink()
    custom = lab.folder / "include-custom" / "training.externalsecret.external-secrets.io-ngc.yaml"
    custom.parent.mkdir()
    custom.touch()
    assert "training ngc" not in lab.run("up.sh", "--dry-run", "--from", "secrets").stdout
    custom.unlink()
    done = lab.run("up.sh", TRAINYARD_SECRETS=str(folder))
    assert done.returncode == 1
    assert "put the files of Secret training/gcp-key into the folder" in done.stderr
    assert "set TRAINYARD_SECRET_TRAINING_NGC__DOCKERCONFIGJSON, or put" in done.stderr
    assert not lab.world.delivered
    files = ("gcp-key/key.json", "gcp-key/user", "ngc/.dockerconfigjson", "ngc/token")
    for name in files:
        (folder / "training" / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / "training" / name).write_text("{}")
    done = lab.run("up.sh", "--from", "secrets", TRAINYARD_SECRETS=str(folder))
    assert done.returncode == 0, done.stderr
    made = {call[4]: call for call in lab.world.calls if call[1:3] == ["create", "secret"]}
    assert f"--from-file={folder}/training/gcp-key/" in made["gcp-key"]
    assert "--type=kubernetes.io/dockerconfigjson" in made["ngc"]
    assert any(each.startswith("--from-file=.dockerconfigjson=") for each in made["ngc"])
    assert any(each.startswith("--from-file=token=") for each in made["ngc"])


@everywhere("notified")
def test_secrets_that_receivers_read_are_made_before_flux(lab: Lab) -> None:
    """In `monitoring` for Alertmanager, and in `flux-system`, which Flux is only about to make."""
    done = lab.run("up.sh")
    assert done.returncode == 1
    assert "set TRAINYARD_SECRET_MONITORING_HOOK_ADDRESS, or put" in done.stderr
    assert "set TRAINYARD_SECRET_FLUX_SYSTEM_FAILED_ADDRESS, or put" in done.stderr
    assert not lab.world.delivered
    given = {
        "TRAINYARD_SECRET_MONITORING_HOOK_ADDRESS": "https://hook.test/a1b2",
        "TRAINYARD_SECRET_FLUX_SYSTEM_FAILED_ADDRESS": "https://hook.test/a1b2",
    }
    done = lab.run("up.sh", "--from", "secrets", **given)
    assert done.returncode == 0, done.stderr
    made = [call[5] for call in lab.world.calls if call[1:3] == ["create", "secret"]]
    assert made == ["--namespace=flux-system", "--namespace=monitoring"]
    assert "a1b2" not in done.stdout + done.stderr


@everywhere("managed")
def test_flux_reads_the_id_of_the_workspace_that_has_the_clusters_name(lab: Lab) -> None:
    """Of another cluster's workspace, whose name begins like this one's, it reads none."""
    lab.world.add("workspace", "ws-other", alias=f"{lab.world.cluster}-2")
    lab.up()
    made = [
        call
        for call in lab.world.calls
        if call[1:4] == ["create", "configmap", "trainyard-monitoring"]
    ]
    assert [call[-1] for call in made] == [
        f"--from-literal=workspaceId=ws-trainyard-{lab.world.cluster}-monitoring"
    ]
    lab.world.of("workspace").clear()
    done = lab.run("up.sh", "--from", "workspace")
    assert done.returncode == 1
    assert "there is no workspace of Amazon Managed Service for Prometheus" in done.stderr


@everywhere("kept")
def test_what_is_read_whole_is_asked_for_whole(lab: Lab) -> None:
    """A text, or every key of a JSON: no ExternalSecret names a `property` of them."""
    folder = lab.folder.parent / "values"
    for name, value in {"team/licence": "L 1\n", "team/tokens": '{"a": "1"}'}.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(value)
    given = {"TRAINYARD_SECRETS": str(folder), "TRAINYARD_SECRET_TEAM_WANDB_API_KEY": "w"}
    done = lab.run("up.sh", "--dry-run", "--from", "secrets")
    assert "team/licence, its whole text" in done.stdout
    assert "team/tokens, all of its JSON" in done.stdout
    done = lab.run("up.sh", **given, TRAINYARD_SECRET_TEAM_WANDB_2="no JSON")
    assert done.returncode == 1
    assert "team/wandb-2 is read by its keys: its value is to be a JSON object" in done.stderr
    assert not lab.world.delivered
    done = lab.run("up.sh", "--from", "secrets", **given)
    assert "set TRAINYARD_SECRET_TEAM_WANDB_2, or put" in done.stderr
    done = lab.run("up.sh", "--from", "secrets", **given, TRAINYARD_SECRET_TEAM_WANDB_2='{"b": 1}')
    assert done.returncode == 0, done.stderr
    assert {name: each["value"] for name, each in lab.world.of("secret").items()} == {
        "team/wandb": {"api_key": "w"},
        "team/licence": "L 1\n",
        "team/tokens": {"a": "1"},
        "team/wandb-2": {"b": 1},
    }


@everywhere("workshop-h100")
def test_a_node_without_the_labels_of_its_topology_is_named(lab: Lab) -> None:
    lab.up()
    lab.world.unlabelled = "topology.k8s.aws/network-node-layer-3"
    done = lab.run("up.sh", "--from", "accept")
    assert done.returncode == 1
    assert "node/bad lacks the label topology.k8s.aws/network-node-layer-3" in done.stderr


@everywhere("private", "terraform")
def test_the_configuration_for_eksctl_has_the_vpc(lab: Lab) -> None:
    lab.up()
    done = lab.run("up.sh", "--config")
    assert "vpc-own" in done.stdout
    assert "${" not in done.stdout


@pytest.mark.skipif(shutil.which("shellcheck") is None, reason="shellcheck is not installed")
@pytest.mark.parametrize("name", [*ALL, "spot"])
def test_shellcheck_finds_nothing(name: str) -> None:
    for script in ("up.sh", "down.sh"):
        text = tree(name)[f"bootstrap/{script}"].decode()
        assert of_shellcheck(of_any_cluster(text)) == ""


def of_any_cluster(script: str) -> str:
    """A script with the same words in the place of its cluster's name, Region and account."""
    (facts,) = re.findall(r"^cluster=([\w-]+) region=([\w-]+) account=(\d+)$", script, re.MULTILINE)
    for fact, word in zip(facts, ("cluster-a", "region-1", "111122223333"), strict=True):
        script = re.sub(rf"\b{fact}\b", word, script)
    return script


@cache
def of_shellcheck(script: str) -> str:
    """What shellcheck says. Many clusters have the same script, but for their names."""
    command = ["shellcheck", "-s", "bash", "-"]
    done = subprocess.run(command, input=script, capture_output=True, text=True, check=False)
    return done.stdout + done.stderr
