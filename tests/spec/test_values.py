"""Values that have the right form and cannot work: refused at their place, with the rule and what to write instead."""

from __future__ import annotations

from typing import Any

import pytest
from builders import FSX, document, loaded, shape_faults, spec
from hypothesis import given
from hypothesis import strategies as some
from pydantic_core import PydanticCustomError
from trainyard.language.diagnostics.render import render
from trainyard.language.models import buckets, git, keys, programs

A, B = "subnet-0a1b2c3d", "subnet-1a1b2c3d"
BLOCK = {"reservations": [{"id": "cr-0a1b2c3d4e5f60718"}]}


def stored(bucket: str = "runs", **more: Any) -> dict[str, Any]:
    return spec(storage=[{"name": "data", "s3": {"existing": {"bucket": bucket}, **more}}])


def vpc(*subnets: tuple[str, str]) -> dict[str, Any]:
    listed = [{"id": id, "zone": zone} for zone, id in subnets]
    return spec(network={"existing": {"vpc": "vpc-0a1b2c3d", "subnets": listed}})


def mounted(path: str) -> dict[str, Any]:
    return spec(
        storage=[{"name": "data", "fsxLustre": {"existing": FSX}}],
        job={"mounts": [{"storage": "data", "path": path}]},
    )


# A spec with one fault; route; words of the message; words of the help.
BAD: list[tuple[dict[str, Any], str, str, str]] = [
    # Network
    (
        vpc(("us-west-2a", A), ("us-west-2b", A)),
        "network.existing.subnets",
        f"subnet `{A}` is listed twice",
        "lies in one zone",
    ),
    *(
        (
            spec(platform={"eks": {"apiServer": {"public": [block]}}}),
            "platform.eks.apiServer.public[0]",
            f"`{block}` are {what}",
            help,
        )
        for block, what, help in (
            ("10.0.0.0/8", "private addresses", "the address that your network has outside"),
            ("172.31.0.0/16", "private addresses", "its NAT's"),
            ("192.168.1.0/24", "private addresses", "VPN"),
            ("100.64.0.0/10", "addresses shared", "outside"),
            ("127.0.0.1/32", "loopback", "outside"),
            ("169.254.169.254/32", "link-local", "outside"),
            ("224.0.0.0/8", "multicast", "outside"),
            ("0.0.0.0/32", "addresses of no host", "203.0.113.0/24"),
        )
    ),
    (
        spec(storage=[{"name": "d", "fsxLustre": {"existing": {**FSX, "address": "127.0.0.1"}}}]),
        "storage[0].fsxLustre.existing.address",
        "no host can have the address `127.0.0.1`",
        "10.0.1.20",
    ),
    # Disks
    (
        spec(pool={"rootVolume": {"size": "1Gi"}}),
        "nodePools[0].rootVolume.size",
        "smaller than the image that nodes boot from, of 20Gi",
        "at least `100Gi`",
    ),
    (
        spec(pool={"rootVolume": {"size": "65Ti"}}),
        "nodePools[0].rootVolume.size",
        "at most 64Ti",
        "`65536Gi`",
    ),
    (
        spec(pool={"rootVolume": {"size": "20Gi", "iops": 16000}}),
        "nodePools[0].rootVolume.iops",
        "gp3 has at most 500 a GiB",
        "write at most `iops: 10000`, or `size: 32Gi`",
    ),
    (
        spec(pool={"rootVolume": {"size": "100Gi", "throughput": 1000}}),
        "nodePools[0].rootVolume.throughput",
        "1000 MiB/s with 3000 IOPS",
        "write `iops: 4000`, or at most `throughput: 750`",
    ),
    # Capacity
    (
        spec(
            pool={
                "capacity": {
                    "block": {
                        **BLOCK,
                        "starts": "2026-01-01T11:30:00Z",
                        "ends": "2026-10-28T11:30:00Z",
                    }
                }
            }
        ),
        "nodePools[0].capacity[0].block.ends",
        "lasts 300 days, and a Capacity Block at most 182",
        "StartDate and EndDate",
    ),
    (
        spec(pool={"capacity": {"block": {**BLOCK, "ends": "2026-12-15T11:30:00+09:00"}}}),
        "nodePools[0].capacity[0].block.ends",
        "ends at 2026-12-15T02:30:00Z, and every Capacity Block ends at 11:30 UTC",
        "write `2026-12-15T11:30:00Z`",
    ),
    # Labels, taints, tags
    *(
        (
            spec(pool={"labels": {key: "windows"}}),
            "nodePools[0].labels",
            f"label `{key}` is set on nodes",
            "remove it",
        )
        for key in (
            "kubernetes.io/os",
            "kubernetes.io/arch",
            "topology.kubernetes.io/zone",
            "nvidia.com/gpu.present",
            "node.kubernetes.io/instance-type",
            "trainyard.dev/pool",
            "karpenter.k8s.aws/instance-gpu-name",
        )
    ),
    (spec(pool={"labels": {"a..b/c": "x"}}), "nodePools[0].labels", "is not a label key", ""),
    (
        spec(pool={"labels": {f"a/{'b' * 64}": "x"}}),
        "nodePools[0].labels",
        "is not a label key",
        "",
    ),
    (
        spec(pool={"taints": [{"key": "node.kubernetes.io/not-ready"}]}),
        "nodePools[0].taints[0].key",
        "set and removed by a controller",
        "like `team`",
    ),
    (
        spec(pool={"taints": [{"key": "karpenter.sh/disrupted"}]}),
        "nodePools[0].taints[0].key",
        "by a controller",
        "",
    ),
    (
        spec(tags={"cost": "42 & more"}),
        "tags.cost",
        "`&` in `42 & more` is not allowed in a value of an IAM tag",
        "letters",
    ),
    (spec(tags={"who?": "me"}), "tags", "`?` in `who?` is not allowed in a key", "letters, digits"),
    (spec(tags={"AWS:cost": "me"}), "tags", "no tag that you may set", "of your own"),
    (spec(tags={f"t{number}": "" for number in range(41)}), "tags", "has 41 items", "at most 40"),
    # S3
    *(
        (
            stored(bucket=name),
            "storage[0].s3.existing.bucket",
            f"`{name}` is not an S3 bucket name",
            help,
        )
        for name, help in (
            ("a..b", "one of them"),
            ("192.168.0.1", "the name of a bucket"),
            ("xn--runs", "a bucket of yours"),
            ("amzn-s3-demo-bucket", "a bucket of yours"),
            ("runs--ol-s3", "the bucket that is behind it"),
        )
    ),
    (
        stored(prefix="s3://runs/llama"),
        "storage[0].s3.prefix",
        "names a bucket too",
        "`prefix: llama`",
    ),
    (stored(prefix="/llama"), "storage[0].s3.prefix", "a part of it is empty", "write `llama/`"),
    (stored(prefix="a//b"), "storage[0].s3.prefix", "a part of it is empty", "write `a/b/`"),
    (stored(prefix="../a"), "storage[0].s3.prefix", "is empty, `.` or `..`", "write `a/`"),
    (stored(prefix="/"), "storage[0].s3.prefix", "a part of it is empty", "the whole bucket"),
    (stored(prefix="a b"), "storage[0].s3.prefix", "a space", "runs/llama"),
    (stored(prefix="a" * 1025), "storage[0].s3.prefix", "has 1025 bytes", "shorter"),
    # Mounts
    *(
        (mounted(path), "jobs[0].mounts[0].path", f"`{path}`", "a folder of its own")
        for path in (
            "/",
            "//",
            "/proc",
            "/proc/self",
            "/sys/fs/cgroup",
            "/dev",
            "/dev/nvidia0",
            "/etc",
            "/etc/",
            "/usr",
            "/usr/bin",
            "/lib64",
            "/run",
            "/var/run/secrets/kubernetes.io",
        )
    ),
    # Commands and variables
    (
        spec(job={"command": ["torchrun train.py"]}),
        "jobs[0].command",
        "`torchrun train.py`, spaces and all",
        "write `[torchrun, train.py]`",
    ),
    (
        spec(job={"command": ["cd /app && torchrun t.py"]}),
        "jobs[0].command",
        "no shell splits it",
        "[bash, -c,",
    ),
    (
        spec(job={"command": [""]}),
        "jobs[0].command",
        "begins with an empty word",
        "[torchrun, train.py]",
    ),
    (
        spec(job={"command": ["--lr", "1"]}),
        "jobs[0].command",
        "begins with an option, `--lr`",
        "under `args:`",
    ),
    (
        spec(job={"command": ["A=b", "torchrun"]}),
        "jobs[0].command",
        "begins with a variable, `A=b`",
        "under `env:`",
    ),
    (spec(job={"command": ["cd", "/app"]}), "jobs[0].command", "a word of the shell", "[bash, -c,"),
    (spec(job={"command": ["python", "a\0b"]}), "jobs[0].command[1]", "a zero byte", "remove"),
    (spec(job={"args": ["\0"]}), "jobs[0].args[0]", "a zero byte", "remove"),
    (spec(job={"env": {"A": "x\0"}}), "jobs[0].env.A", "a zero byte", "remove"),
    (
        spec(job={"secretEnv": [{"env": "A", "secret": "s", "key": ".."}]}),
        "jobs[0].secretEnv[0].key",
        "not a key of a Secret",
        "like `token`",
    ),
    (
        spec(job={"checkpoint": {"path": "/" + "a" * 4095}}),
        "jobs[0].checkpoint.path",
        "has 4096 characters",
        "shorten",
    ),
    (
        spec(job={"checkpoint": {"path": "/data", "signalFile": "/tmp/"}}),
        "jobs[0].checkpoint.signalFile",
        "`/tmp/` is a folder",
        "write `/tmp/save-now`",
    ),
    # git
    (
        spec(flux={"url": "https://me:hunter22@github.com/org/fleet"}),
        "flux.url",
        "has credentials in it",
        "write `https://github.com/org/fleet`, and name the Secret",
    ),
    (
        spec(flux={"url": "https://ghp_abcdefgh@github.com/org/fleet"}),
        "flux.url",
        "has credentials",
        "`secret:`",
    ),
    (
        spec(flux={"url": "ssh://git:hunter22@github.com/org/fleet"}),
        "flux.url",
        "has credentials",
        "`ssh://github.com/org/fleet`",
    ),
    *(
        (
            spec(flux={"branch": name}),
            "flux.branch",
            f"`{name}` is no branch of git: it {why}",
            "like `main`",
        )
        for name, why in (
            ("a..b", "has two dots"),
            ("-x", "begins with `-`"),
            ("/main", "begins or ends with `/`"),
            ("main/", "begins or ends"),
            ("a//b", "begins or ends"),
            ("x.lock", "has a part that ends"),
            (".hidden", "has a part that begins with a dot"),
            ("a b", "has a character other"),
        )
    ),
    (
        spec(flux={"branch": "refs/heads/main"}),
        "flux.branch",
        "the whole name of a reference",
        "write `main`",
    ),
]


@pytest.mark.parametrize(("data", "route", "message", "help"), BAD)
def test_what_cannot_work_is_refused_at_its_place(
    data: dict[str, Any], route: str, message: str, help: str
) -> None:
    (found,) = shape_faults(data)
    assert found.code in ("SPC004", "SPC005")
    assert str(found.at).removeprefix("spec.").startswith(route)
    assert message in found.message
    assert help in found.help


GOOD: list[dict[str, Any]] = [
    spec(pool={"rootVolume": {"size": "20Gi"}}),
    spec(pool={"rootVolume": {"size": "64Ti", "iops": 80000, "throughput": 2000}}),
    spec(
        pool={
            "capacity": {
                "block": {**BLOCK, "starts": "2026-06-01T12:00:00Z", "ends": "2026-11-30T11:30:00Z"}
            }
        }
    ),
    spec(
        pool={
            "labels": {
                "node-restriction.kubernetes.io/team": "a",
                "nvidia.com/mig.config": "all-1g.10gb",
            }
        }
    ),
    spec(platform={"eks": {"apiServer": {"public": ["0.0.0.0/0", "8.8.8.0/24"]}}}),
    spec(platform={"eks": {"apiServer": {"public": []}}}),
    stored(bucket="runs--usw2-az1--x-s3", prefix="a/b/"),
    stored(prefix="a=1/b"),
    mounted("/opt/data"),
    mounted("/usr/share/data"),
    mounted("/mnt"),
    mounted("/home"),
    mounted("/etcetera"),
    spec(job={"command": ["/opt/my-app", "a b", ""]}),
    spec(job={"command": ["bash", "-c", "cd /a && torchrun t.py"]}),
    spec(
        pool={
            "capacity": {
                "block": {
                    "reservations": [{"id": "cr-0a1b2c3d4e5f60711", "nodes": 4}],
                    "ends": "2000-01-01T11:30:00Z",
                }
            }
        }
    ),
    spec(flux={"url": "ssh://git@github.com/org/fleet"}),
    spec(flux={"branch": "feature/a.b-c_d"}),
    spec(tags={"cost center": "42 + more: ü", "a": ""}),
]


@pytest.mark.parametrize("data", GOOD)
def test_what_works_is_taken(data: dict[str, Any]) -> None:
    assert shape_faults(data) == []


def test_a_password_is_never_shown() -> None:
    """Not in words, and not in the line that is quoted."""
    made = document(spec(flux={"url": "https://me:hunter22@github.com/org/fleet"}))
    found = [
        each.locate(made)
        for each in shape_faults(spec(flux={"url": "https://me:hunter22@github.com/org/fleet"}))
    ]
    text = render("text", found, tool_version="0")
    assert "https://***********@github.com" in text
    assert all(
        "hunter22" not in render(name, found, tool_version="0")
        for name in ("text", "json", "sarif", "github")
    )


CHECKS = [
    buckets.bucket,
    buckets.prefix,
    git.branch,
    git.repository_url,
    keys.label_key,
    keys.node_label,
    keys.tag_key,
    keys.taint_key,
    programs.mount_path,
]


@pytest.mark.slow
@pytest.mark.parametrize("check", CHECKS)
@given(
    value=some.text(alphabet="a.:/-@\0 s3_1", max_size=12)
    | some.sampled_from([None, 1, True, [], {}])
)
def test_any_value_is_taken_or_refused_in_words(check: Any, value: Any) -> None:
    try:
        taken = check(value)
    except PydanticCustomError as problem:
        refused = problem.context or {}
    else:
        assert taken == value
        return
    assert refused["fact"]
    assert refused["help"]


@pytest.mark.parametrize(("least", "known"), [(2, 2), (4, None), (None, None)])
def test_a_job_that_starts_with_all_of_its_nodes_has_no_least(
    least: int | None, known: int | None
) -> None:
    (job,) = loaded(spec(job={"nodes": 4, "minNodes": least})).spec.jobs
    assert job.least_nodes == known
