"""The report of a cluster: each section on its own, with numbers that can be counted by hand."""

from __future__ import annotations

import re
import shutil
from pathlib import Path
from typing import Any

import pytest
import trainyard.extensions.forecast.sections as sections
import trainyard.extensions.review.report as package
from builders import FSX, dumped, spec
from running import EXAMPLE, Command
from trainyard.extensions.review.report import FIRST, LAST, REST, trust

pytestmark = pytest.mark.slow


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    shutil.copytree(EXAMPLE / "specs", tmp_path / "specs")
    return tmp_path


def write(folder: Path, **parts: Any) -> None:
    (folder / "lab.yaml").write_text(dumped(spec(**parts)))


def part(text: str, title: str) -> str:
    """The lines of a section."""
    found = re.search(
        rf"^## {title}\n\n(.*?)(?=^## |^<details>|\Z)", text, re.MULTILINE | re.DOTALL
    )
    assert found is not None, text
    return found[1]


def rows(text: str, title: str) -> list[list[str]]:
    """The cells of a section's table, without its header."""
    lines = [line for line in part(text, title).splitlines() if line.startswith("| ")]
    return [line.removeprefix("| ").removesuffix(" |").split(" | ") for line in lines[2:]]


def test_every_module_of_a_section_is_in_the_report() -> None:
    folders = (Path(package.__file__).parent, Path(sections.__file__).parent)
    modules = {path.stem for folder in folders for path in folder.glob("*.py")}
    assert {module.__name__.rpartition(".")[2] for module in (*FIRST, *REST, *LAST)} == modules - {
        "__init__",
        "bill",
        "figures",
        "markdown",
        "moving",
        "overview",
        "shortened",
        "unestimated",
        "why",
    }


def test_cost_by_job_and_queue(trainyard: Command, tmp_path: Path) -> None:
    """p4d.24xlarge: 21.957642 USD an hour in us-east-1, by the catalog; 730 hours a month."""
    queue = {"name": "a", "namespaces": ["team-a"], "quota": [{"pool": "gpu", "nodes": 3}]}
    command, image = ["python", "train.py"], "registry.test/train:1.0"
    write(
        tmp_path,
        region="us-east-1",
        pool={"zones": ["us-east-1b"]},
        queues=[queue],
        jobs=[
            {"name": "long", "nodes": 2, "timeout": "10h", "image": image, "command": command},
            {"name": "endless", "kind": "JobSet", "nodes": 1, "image": image, "command": command},
        ],
    )
    done = trainyard("report", "lab.yaml", cwd=tmp_path)
    assert rows(done.out, "Cost by job and queue") == [
        ["long", "a", "2", "43.92", "10h", "439.15"],
        ["endless", "a", "1", "21.96", "no limit", ""],
        ["queue", "namespaces", "quota", "USD an hour", "USD a month"],
        ["---", "---", "---:", "---:", "---:"],
        ["a", "team-a", "3 of gpu", "65.87", "48,087.24"],
    ]


def test_a_job_or_queue_of_nodes_without_a_price(trainyard: Command, tmp_path: Path) -> None:
    queue = {"name": "a", "namespaces": ["team-a"], "quota": [{"pool": "gpu", "nodes": 2}]}
    pool = {"instanceTypes": ["hpc6a.48xlarge"], "zones": ["us-east-2b"]}
    write(tmp_path, region="us-east-2", pool=pool, queues=[queue], job={"timeout": "1h"})
    done = trainyard("report", "lab.yaml", cwd=tmp_path)
    job, _header, _line, of_queue = rows(done.out, "Cost by job and queue")
    assert job[3:] == ["?", "1h", "?"]
    assert of_queue[3:] == ["?", "?"]


def test_cost_by_pool_and_in_all(trainyard: Command, tmp_path: Path) -> None:
    """p4d.24xlarge: 21.957642 USD an hour in us-east-1, m7i.2xlarge: 0.4032, by the catalog."""
    write(tmp_path, region="us-east-1", pool={"zones": ["us-east-1b"]})
    text = trainyard("report", "lab.yaml", cwd=tmp_path).out
    system, pool, *others = rows(text, "Cost")
    assert system == ["system", "m7i.2xlarge", "2 to 3", "0.40", "0.81", "1.21", "on demand"]
    assert pool == ["gpu", "p4d.24xlarge", "0 to 4", "21.96", "0.00", "87.83", "on demand"]
    by_name = {row[0]: row for row in others}
    assert by_name["control plane"][2:6] == ["1", "73.00", "73.00", "0.10"]
    assert by_name["NAT gateways"][2:6] == ["2", "32.85", "65.70", "0.09"]
    assert by_name["public IPv4 addresses"][2:6] == ["2", "3.65", "7.30", "0.01"]
    assert by_name["root volumes of system"][2:6] == ["2 to 3", "8.00", "16.00", "0.03"]
    # 0.8064 + 0.10 + 0.09 + 0.01 + 16 / 730; and 1.2096 + 87.8306 + 0.2 + 24 / 730 + 4 × 8 / 730
    assert part(text, "Cost").startswith(
        "**$1.03 an hour always ($751 a month), $89.32 at most while jobs run**.\n"
    )


def test_checkpoints_by_job(trainyard: Command, tmp_path: Path) -> None:
    """Two nodes repeat 15 minutes and read 24 GB at 146 MB/s (164 seconds): 0.6 hours at 21.96 dollars."""
    fsx = {
        "id": "fs-0a1b2c3d4e5f60718",
        "address": "10.0.1.9",
        "mountName": "abcdefgh",
        "size": "1200Gi",
        "version": "2.15",
        "throughputPerTiB": 125,
    }
    job = {
        "nodes": 2,
        "torchVersion": "2.12",
        "mounts": [{"storage": "data", "path": "/data"}],
        "checkpoint": {"path": "/data/run", "every": "30m", "keep": 3, "async": True},
        "model": {"parameters": 1.7142857e9, "sharding": "full"},
    }
    storage = [{"name": "data", "fsxLustre": {"existing": fsx}}]
    write(tmp_path, storage=storage, job=job)
    done = trainyard("report", "lab.yaml", cwd=tmp_path)
    assert done.code == 0
    assert rows(done.out, "Checkpoints") == [
        [
            "train",
            "22 GiB",
            "3",
            "2m44s",
            "2m44s",
            "the disks of `fs-0a1b2c3d4e5f60718`",
            "3168h",
            "30m",
            "5m",
            "0.0%",
            "0.6 node hours, $13",
        ]
    ]


def test_without_a_model_there_is_no_table_of_checkpoints(trainyard: Command, folder: Path) -> None:
    done = trainyard("report", "specs/jakarta", cwd=folder)
    assert done.code == 0
    assert "## Checkpoints" not in done.out


def test_a_price_of_another_region_is_marked(trainyard: Command, tmp_path: Path) -> None:
    """Of us-west-2 the nodes' prices are known, what is beside them is not."""
    write(tmp_path)
    text = part(trainyard("report", "lab.yaml", cwd=tmp_path).out, "Cost")
    assert text.startswith("**≈ $1.03 an hour always")
    assert "no price of us-west-2 is known, so it is that of us-east-1" in text
    system, pool, _, _, *others = rows(trainyard("report", "lab.yaml", cwd=tmp_path).out, "Cost")
    assert "≈" not in system[3] + pool[3]
    assert {row[3].partition(" ")[0] for row in others} <= {"≈", "?"}


def test_every_price_names_source_and_date(trainyard: Command, tmp_path: Path) -> None:
    write(tmp_path)
    text = trainyard("report", "lab.yaml", cwd=tmp_path).out
    folded = text[text.index("Prices, with source and date") :]
    listed = folded[: folded.index("</details>")].strip().splitlines()[1:]
    sources = [line for line in listed if line]
    assert len(sources) == 4
    for line in sources:
        assert re.match(r"- 20\d\d-\d\d-\d\d: .+ \(.+, .+\)$", line), line


def test_capacity_that_is_paid_whatever_runs(trainyard: Command, tmp_path: Path) -> None:
    """A reservation by the hour, used or not; a block once, when it is bought."""
    write(
        tmp_path,
        pool={"capacity": {"reserved": {"reservations": [{"id": "cr-0a1b2c3d4e5f60713"}]}}},
    )
    assert rows(trainyard("report", "lab.yaml", cwd=tmp_path).out, "Cost")[1][4:6] == [
        "87.83",
        "87.83",
    ]


def test_capacity_blocks_have_their_own_price(trainyard: Command, folder: Path) -> None:
    """80 p5e.48xlarge of 8 H200: 6.866 USD an hour for each of 640, since 2026-10-07; 14 days are 336 hours."""
    text = trainyard("report", "specs/jakarta", cwd=folder).out
    block = rows(text, "Cost")[1]
    assert block[2:6] == ["80", "54.93", "0.00", "4,394.24"]
    cost = part(text, "Cost")
    assert "$4,394.24 of it an hour" in cost
    assert "$1,476,465 for its 336 hours" in cost
    assert cost.startswith("**$1,476,465 for Capacity Block `h200` whatever runs, ")
    assert "≈ $4,413.58 at most while jobs run" in cost
    spec_file = folder / "specs" / "jakarta" / "cluster.yaml"
    lines = spec_file.read_text().splitlines()
    kept = [line for line in lines if "starts:" not in line]
    spec_file.write_text("\n".join(kept) + "\n")
    text = trainyard("report", "specs/jakarta", cwd=folder).out
    assert "the spec does not say how long it lasts" in part(text, "Cost")


def test_storage_has_its_price_or_is_named_as_without(trainyard: Command, tmp_path: Path) -> None:
    """A GiB of the slowest SSD is 0.145 USD a month in us-east-1; of HDD no price is known."""
    made = {"size": "1200Gi", "throughputPerTiB": 125, "zone": "us-east-1b"}
    old = {**FEW, "size": "6000Gi", "throughputPerTiB": 12, "driveCache": "NONE"}
    storage = [
        {"name": "data", "fsxLustre": {"create": made}},
        {"name": "old", "fsxLustre": {"create": old}},
        {"name": "bucket", "s3": {"create": {}}},
        {"name": "each", "ebs": {"create": {"each": "pod", "size": "500Gi", "iops": 4000}}},
    ]
    mounts = [{"storage": "each", "path": "/each"}]
    write(
        tmp_path,
        region="us-east-1",
        pool={"zones": ["us-east-1b"]},
        storage=storage,
        job={"mounts": mounts},
    )
    done = trainyard("report", "lab.yaml", cwd=tmp_path)
    text = part(done.out, "Cost")
    by_name = {row[0]: row for row in rows(done.out, "Cost")}
    assert by_name["data"][2:6] == ["1", "174.00", "174.00", "0.24"]
    assert by_name["old"][2:6] == ["1", "?", "?", "?"]
    # 500 × 0.08 + 1000 × 0.005, for each pod of the job
    assert by_name["each"][2:6] == ["0 to 4", "45.00", "0.00", "0.25"]
    first = text.splitlines()[0]
    assert first.endswith("**, without `old`: no price known.")
    assert "bucket" not in by_name
    assert "what is in S3" in text


FEW = {"deployment": "PERSISTENT_1"}
IOPS = {
    "deployment": "PERSISTENT_2",
    "throughputPerTiB": 125,
    "metadata": {"mode": "USER_PROVISIONED", "iops": 6000},
}
AUTO = {"eks": {"autoMode": {}}}
UNPRICED: dict[str, tuple[dict[str, object], str]] = {
    "HDD": ({"size": "6000Gi", **FEW, "throughputPerTiB": 12, "driveCache": "NONE"}, "`fast`"),
    "metadata IOPS": ({"size": "4800Gi", **IOPS}, "`metadata IOPS of fast`"),
}


@pytest.mark.parametrize(("made", "named"), UNPRICED.values(), ids=UNPRICED)
def test_the_first_line_names_what_has_no_price(
    trainyard: Command, tmp_path: Path, made: dict[str, object], named: str
) -> None:
    """No source of it could be found: it is in no sum, and nobody reads the sum without seeing that."""
    storage = [{"name": "fast", "fsxLustre": {"create": made}}]
    write(tmp_path, region="us-east-1", pool={"zones": ["us-east-1b"]}, storage=storage)
    done = trainyard("report", "lab.yaml", cwd=tmp_path)
    first = part(done.out, "Cost").splitlines()[0]
    assert first.endswith(f"**, without {named}: no price known.")


def test_the_fee_of_auto_mode(trainyard: Command, tmp_path: Path) -> None:
    """4.8 % of 55.04 USD an hour, of each of four nodes; how many nodes the controllers take EKS decides."""
    pool = {"instanceTypes": ["p5.48xlarge"], "zones": ["us-east-1b"]}
    write(tmp_path, region="us-east-1", pool=pool, platform=AUTO)
    done = trainyard("report", "lab.yaml", cwd=tmp_path)
    by_name = {row[0]: row for row in rows(done.out, "Cost")}
    assert by_name["EKS Auto Mode for gpu"][2] == "0 to 4"
    assert by_name["EKS Auto Mode for gpu"][5] == "10.57"
    first = part(done.out, "Cost").splitlines()[0]
    assert first.endswith("**, without `nodes of general-purpose`: no price known.")


def test_a_fee_that_is_not_known_is_in_the_first_line(trainyard: Command, tmp_path: Path) -> None:
    pool = {"instanceTypes": ["inf2.48xlarge"], "zones": ["us-east-1b"]}
    write(tmp_path, region="us-east-1", pool=pool, platform=AUTO)
    done = trainyard("report", "lab.yaml", cwd=tmp_path)
    assert "without `EKS Auto Mode for gpu`, " in part(done.out, "Cost").splitlines()[0]


def test_what_an_edit_changes_of_the_cost(trainyard: Command, folder: Path) -> None:
    """By the spec that the other folder's output was compiled from, which a checkout has beside it."""
    base = folder / "base"
    shutil.copytree(folder / "specs", base / "specs")
    assert trainyard("compile", "specs/starter.yaml", cwd=base).code == 0
    path = folder / "specs" / "starter.yaml"
    path.write_text(path.read_text().replace("max: 2", "max: 4"))
    command = ("report", "specs/starter.yaml", "--against", "base/generated")
    done = trainyard(*command, cwd=folder)
    assert done.code == 0
    assert (
        "Before and after, an hour: ≈ $1.03 → the same always; "
        "≈ $61.73 → ≈ $122.01 (+$60.28, +$44,008 in a whole month) at most."
    ) in part(done.out, "Cost")
    (base / "specs" / "starter.yaml").unlink()
    text = part(trainyard(*command, cwd=folder).out, "Cost")
    assert "Before and after: not known, since `specs/starter.yaml` is not next to" in text
    shutil.rmtree(base / "generated" / "starter")
    text = part(trainyard(*command, cwd=folder).out, "Cost")
    assert "the cluster is not in `base/generated`, so it is new" in text


def test_what_is_read_in_a_minute_stands_open(trainyard: Command, folder: Path) -> None:
    base = folder / "base"
    shutil.copytree(folder / "specs", base / "specs")
    assert trainyard("compile", "specs/two-teams.yaml", cwd=base).code == 0
    path = folder / "specs" / "two-teams.yaml"
    path.write_text(
        path.read_text().replace("{max: 12}", "{max: 10}").replace("nodes: 8,", "nodes: 5,")
    )
    command = ("report", "specs/two-teams.yaml", "--against", "base/generated")
    text = trainyard(*command, cwd=folder).out
    opened, _, folded = text.partition("<details><summary>Who gets in")
    titles = re.findall("^## (.+)$", opened, re.MULTILINE)
    first = ["What the merge does", "Changes", "Admission", "Cost and quota"]
    assert [title for title in titles if title in first] == first
    rest = re.findall("^## (.+)$", folded, re.MULTILINE)
    assert rest[0] == "Who gets in, what changes hands"
    assert "Cost" in rest
    assert set(titles).isdisjoint(rest)
    assert "- **moves jobs in the queue**: `~` `job pretrain`: " in part(
        text, "What the merge does"
    )
    changed = part(text, "Cost and quota").splitlines()
    assert changed[0].startswith("- cost: −$151.94 an hour (−$110,918 a month) at most")
    assert changed[1:3] == [
        "- devices: −16 H100 in pool h100",
        "- quota: −3 nodes of h100 for queue team-a",
    ]


@pytest.mark.parametrize("command", ["report", "check"])
def test_a_folder_to_compare_with_that_is_not_there_is_wrong_usage(
    trainyard: Command, folder: Path, command: str
) -> None:
    done = trainyard(command, "specs/starter.yaml", "--against", "nowhere", cwd=folder)
    assert done.code == 2
    assert "`--against nowhere` is not a folder" in done.err


def test_a_limit_shows_changed_clusters_first_and_whole(trainyard: Command, tmp_path: Path) -> None:
    folder, examples = tmp_path, EXAMPLE / "specs"
    shutil.copytree(examples / "jakarta", folder / "specs" / "jakarta")
    for name in ("starter.yaml", "two-teams.yaml"):
        shutil.copy(examples / name, folder / "specs")
    assert trainyard("compile", "specs", cwd=folder).code == 0
    path = folder / "specs" / "two-teams.yaml"
    path.write_text(path.read_text().replace("max: 12", "max: 16"))
    whole = trainyard("report", "specs", cwd=folder).out
    limit = 24_000
    assert len(whole.encode()) > limit
    done = trainyard(
        *("report", "specs", "--limit", str(limit), "--link", "https://ci.example/7"), cwd=folder
    )
    assert done.code == 0
    assert len(done.out.encode()) <= limit
    titles = re.findall("^# (.+)$", done.out, re.MULTILINE)
    assert titles[:2] == ["Overview", "two-teams"]
    one = trainyard("report", "specs/two-teams.yaml", cwd=folder).out
    assert one in done.out
    names = re.findall("^# (.+)$", whole, re.MULTILINE)
    listed = re.findall(r"^- \*\*(.+)\*\*: (?:unchanged|\d+ findings?)$", done.out, re.MULTILINE)
    assert sorted([*titles[:-1], *listed]) == sorted(names)
    assert done.out.endswith("[the whole report](https://ci.example/7).\n")
    assert done.out.count("<details>") == done.out.count("</details>")
    fits = trainyard("report", "specs", "--limit", "1000000", cwd=folder)
    assert fits.out == whole
    short = trainyard("report", "specs", "--limit", "9999", cwd=folder)
    assert (short.code, short.out) == (2, "")


def test_a_report_that_is_too_long_alone_is_left_out_by_sections(
    trainyard: Command, folder: Path
) -> None:
    whole = trainyard("report", "specs/workshop", cwd=folder).out
    limit = 12_000
    done = trainyard("report", "specs/workshop", "--limit", str(limit), cwd=folder)
    assert len(whole.encode()) > limit
    assert limit / 3 < len(done.out.encode()) <= limit
    left = re.search("^Left out: (.+)\\.$", done.out, re.MULTILINE)
    assert left is not None
    shown = re.findall("^## (.+)$", done.out, re.MULTILINE)
    assert not set(shown) & set(left[1].split(", "))
    assert done.out.count("<details>") == done.out.count("</details>")


def test_queues_in_nodes_against_what_jobs_ask(trainyard: Command, folder: Path) -> None:
    text = trainyard("report", "specs/two-teams.yaml", cwd=folder).out
    assert rows(text, "Queues") == [
        ["team-a", "h100", "8", "4", "8", "8", ""],
        ["team-b", "h100", "4", "8", "2", "2", ""],
    ]


def test_a_queue_borrows_what_the_others_lend_within_its_limit(
    trainyard: Command, folder: Path
) -> None:
    path = folder / "specs" / "two-teams.yaml"
    limits = {"borrowingLimit: 4": "borrowingLimit: 2", ", borrowingLimit: 8": ""}
    text = path.read_text()
    for old, new in limits.items():
        assert text.count(old) == 1
        text = text.replace(old, new)
    path.write_text(text)
    text = trainyard("report", "specs/two-teams.yaml", cwd=folder).out
    assert [row[2:4] for row in rows(text, "Queues")] == [["8", "2"], ["4", "8"]]


def test_jobs_that_wait_for_each_other(trainyard: Command, folder: Path) -> None:
    path = folder / "specs" / "two-teams.yaml"
    path.write_text(
        path.read_text()
        + re.search(r"    - name: finetune\n(?:      .*\n)*", path.read_text())[0]
        .replace("finetune", "evaluate")
        .replace("nodes: 2", "nodes: 12")
    )  # type: ignore[index]
    team_b = rows(trainyard("report", "specs/two-teams.yaml", cwd=folder).out, "Queues")[1]
    assert team_b == ["team-b", "h100", "4", "8", "14", "12", "2 wait"]


def test_what_kueue_does_with_jobs_that_do_not_all_fit(trainyard: Command, folder: Path) -> None:
    path = folder / "specs" / "two-teams.yaml"
    known = path.read_text()
    assert "## Admission" not in trainyard("report", "specs/two-teams.yaml", cwd=folder).out
    job = re.search(r"    - name: finetune\n(?:      .*\n)*", known)
    assert job is not None
    path.write_text(
        known
        + job[0].replace("finetune", "evaluate").replace("nodes: 2", "nodes: 12")
        + job[0].replace("finetune", "too-large").replace("nodes: 2", "nodes: 13")
    )
    found = rows(trainyard("report", "specs/two-teams.yaml", cwd=folder).out, "Admission")
    kinds = {row[0]: row[1] for row in found}
    assert kinds["`too-large`"] == "NEVER FITS"
    assert kinds["`evaluate`"] in ("WAITS FOR", "FITS ONLY IF")
    assert all(row[2] for row in found)


def test_where_a_gang_lands(trainyard: Command, folder: Path) -> None:
    jobs = rows(trainyard("report", "specs/jakarta", cwd=folder).out, "Jobs")
    (timor,) = [row for row in jobs if row[0] == "timor"]
    assert timor[2:5] == ["TrainJob, torchrun", "timor", "14"]
    assert timor[5] == (
        "p5e.48xlarge in ap-southeast-3a; pool h200; cr-0a1b2c3d4e5f60713, cr-0a1b2c3d4e5f60714; "
        "topology reservations-ec2-network"
    )


def test_storage_and_what_must_exist(trainyard: Command, folder: Path) -> None:
    text = trainyard("report", "specs/jakarta", cwd=folder).out
    assert rows(text, "Storage")[0][:3] == [
        "data",
        "FSx for Lustre 2.15, PERSISTENT_1, made",
        "14400Gi",
    ]
    must_exist = part(text, "Must exist")
    for name in (
        "GitRepository `flux-system/flux-system`",
        "reservation `cr-0a1b2c3d4e5f60713`",
        "image `111122223333.dkr.ecr.ap-southeast-3",
    ):
        assert name in must_exist


def test_an_edit_against_what_is_committed(trainyard: Command, folder: Path) -> None:
    """Files, runs that go on, and the command that ends them."""
    assert trainyard("compile", "specs/jakarta", cwd=folder).code == 0
    assert "## Changes" not in trainyard("report", "specs/jakarta", cwd=folder).out
    job = folder / "specs" / "jakarta" / "jobs" / "timor.yaml"
    job.unlink()
    text = trainyard("report", "specs/jakarta", cwd=folder).out
    changes = part(text, "Changes")
    assert "**CHG003** an earlier run goes on until it ends or is deleted" in changes
    (run,) = rows(text, "Earlier runs")
    assert run[1:4] == ["timor", "14", "h200"]
    assert re.fullmatch(r"`kubectl delete trainjob timor-\w{5} -n models`", run[4])
    assert re.search(r"^- - `jobs/models\.trainjob-timor-\w{5}\.yaml`$", text, re.MULTILINE)


def test_findings_have_their_line(trainyard: Command, tmp_path: Path) -> None:
    """Of a spec with a plan, and of one without; the exit code is that of a check."""
    write(tmp_path, job={"checkpoint": {"path": "/local"}, "mounts": []})
    done = trainyard("report", "lab.yaml", cwd=tmp_path)
    assert re.search(r"^\| \w+ \| [A-Z]{3}\d{3} \| `lab.yaml:\d+` \| ", done.out, re.MULTILINE)
    write(tmp_path, pool={"instanceTypes": ["p9.huge"]})
    done = trainyard("report", "lab.yaml", cwd=tmp_path)
    assert "| error | RES005 | `lab.yaml:" in done.out
    assert (done.code, "# lab" in done.out) == (1, True)


@pytest.mark.parametrize(
    ("text", "title", "code"),
    [
        (dumped(spec(pool={"instanceTypes": ["p4d.none"]})), "# lab\n", "RES005"),
        ("spec: [", "# Specs\n", "YML002"),
    ],
)
def test_a_spec_in_error_has_its_findings_alone(
    trainyard: Command, tmp_path: Path, text: str, title: str, code: str
) -> None:
    (tmp_path / "lab.yaml").write_text(text)
    done = trainyard("report", "lab.yaml", cwd=tmp_path)
    assert done.code == 1
    assert done.out.startswith(title)
    assert f"| error | {code} | `lab.yaml:" in done.out
    assert "## Cost" not in done.out
    why = trainyard("report", "lab.yaml", "--why", "job", cwd=tmp_path)
    assert (why.code, why.out) == (1, "")
    assert f"error[{code}]" in why.err


def test_decisions_are_short(trainyard: Command, folder: Path) -> None:
    """What is the same for seven jobs is one line; what the spec sets stands apart."""
    text = trainyard("report", "specs/jakarta", cwd=folder).out
    assert "| 7 jobs | env.PET_RDZV_ID | ‹run› | one rendezvous a run |" in text
    *_, decisions, given, _ = text.split("<details>")
    assert "set by the spec" not in decisions
    assert "| 7 jobs | resources.cpu | 180 |" in given
    lines = [line for line in decisions.splitlines() if line.startswith("| ")][2:]
    assert lines
    assert lines[0].startswith("| cluster | ")


def test_a_table_keeps_its_columns() -> None:
    from trainyard.extensions.forecast.blocks import table
    from trainyard.extensions.review.report.markdown import lines

    assert list(lines([table(("a", "n:"), [("x|y\nz", "1")])]))[1:] == [
        "| --- | ---: |",
        "| x\\|y z | 1 |",
        "",
    ]


def test_the_images_of_init_containers_must_exist(trainyard: Command, tmp_path: Path) -> None:
    before = [{"name": "fetch", "image": "r.test/fetch:2", "command": ["x"]}]
    data = spec(job={"initContainers": before, "imagePullSecrets": ["login"]})
    (tmp_path / "spec.yaml").write_text(dumped(data))
    found = part(trainyard("report", "spec.yaml", cwd=tmp_path).out, "Must exist")
    assert "image `r.test/fetch:2`" in found
    assert "Secret `training/login`" in found


def test_timeouts_that_bound_each_other(trainyard: Command, tmp_path: Path) -> None:
    """The times that Kueue waits are those of a node and its image, 15 and 10 minutes, and of a repair, 10 more."""
    jobs = [
        {"name": "one", "checkpoint": {"path": "/data/one"}},
        {"name": "two", "checkpoint": {"path": "/data/two"}},
    ]
    write(tmp_path, jobs=_saving(jobs), storage=[_LUSTRE])
    table = rows(trainyard("report", "lab.yaml", cwd=tmp_path).out, "Timeouts")
    by_who = {(row[0], row[2].partition(":")[0]): row for row in table}
    assert by_who["Kueue", "all pods of an admitted job"][1:] == [
        "30m",
        "all pods of an admitted job: a node from nothing 15m, its image 10m",
        "at least 25m",
        "yes",
    ]
    assert by_who["Kueue", "a pod that a running job lost"][1] == "35m"
    who = "the kubelet, for a pod of one, two"
    assert by_who[who, "a last checkpoint"][1] == "5m"
    assert {row[4] for row in table} == {"yes"}


def test_how_long_nodes_wait_for_each_other_is_read_out_of_the_rendezvous(
    trainyard: Command, tmp_path: Path
) -> None:
    env = {"PET_RDZV_CONF": "close_timeout=60,join_timeout=2400"}
    write(tmp_path, job={"env": env})
    table = rows(trainyard("report", "lab.yaml", cwd=tmp_path).out, "Timeouts")
    assert [row[1] for row in table if row[0].startswith("torchrun")] == ["40m"]


def test_a_timeout_that_is_too_short(trainyard: Command, tmp_path: Path) -> None:
    write(tmp_path, kueue={"waitForPodsReady": {"timeout": "5m"}})
    table = rows(trainyard("report", "lab.yaml", cwd=tmp_path).out, "Timeouts")
    assert [row[:2] for row in table if row[4] == "**no**"] == [["Kueue", "5m"]]


_LUSTRE = {
    "name": "data",
    "fsxLustre": {
        "existing": {"id": "fs-0a1b2c3d4e5f60718", "mountName": "abcdefgh", "size": "4800Gi"}
    },
}


def _saving(jobs: list[dict[str, object]]) -> list[dict[str, object]]:
    """Jobs with all that they need to save."""
    return [
        {
            "image": "registry.example/train:1.0",
            "command": ["torchrun", "train.py"],
            "mounts": [{"storage": "data", "path": "/data"}],
            **job,
        }
        for job in jobs
    ]


def test_what_security_groups_must_let_through(trainyard: Command, tmp_path: Path) -> None:
    """Nothing is known of a group but its id; that it takes EFA and Lustre is for those who made it."""
    group = "sg-0a1b2c3d4e5f60718"
    subnets = [
        {"id": f"subnet-0a1b2c3d4e5f6071{index}", "zone": f"us-west-2{zone}"}
        for index, zone in enumerate("ab")
    ]
    network = {"vpc": "vpc-0a1b2c3d4e5f60718", "subnets": subnets, "securityGroups": [group]}
    lustre = [{"name": "data", "fsxLustre": {"existing": FSX}}]
    for storage, words in (([], "for EFA"), (lustre, "for EFA, and TCP 988 and 1018 to 1023")):
        data = spec(network={"existing": network}, storage=storage)
        (tmp_path / "spec.yaml").write_text(dumped(data))
        done = trainyard("report", "spec.yaml", cwd=tmp_path)
        (line,) = (line for line in part(done.out, "Must exist").splitlines() if group in line)
        assert words in line
        assert ("988" in line) == bool(storage)


def test_failures_of_jobs_that_are_alike_share_a_row(trainyard: Command, tmp_path: Path) -> None:
    """Both save nothing for a minute, so that the first new step comes after two: one to end, and one to start."""
    jobs = _saving([{"name": "one", "nodes": 2}, {"name": "two", "nodes": 2}])
    write(tmp_path, jobs=jobs, storage=[_LUSTRE])
    table = rows(trainyard("report", "lab.yaml", cwd=tmp_path).out, "Failures")
    assert {row[1] for row in table} == {"one, two"}
    by_failure = {row[0]: row for row in table}
    lost = by_failure["a node is lost"]
    assert lost[4] == "from what its program saved"
    assert lost[5].startswith("2m to ")
    assert lost[6:] == ["?", "?"]
    assert by_failure["it leaves the spec"][4:] == ["it runs on", "0s", "nothing", "0"]


@pytest.mark.usefixtures("two_failure_rates")
def test_failures_and_their_cost(trainyard: Command, tmp_path: Path) -> None:
    """510 s to end, 60 to start, 210 to read, 900 of work: 1.9 hours of four nodes at 21.957642 dollars. At most a hang
    of 600 s, a node after 900 and its image after 600 are added."""
    fast = {**FSX, "version": "2.15", "size": "38400Gi", "throughputPerTiB": 125}
    write(
        tmp_path,
        region="us-east-1",
        storage=[{"name": "data", "fsxLustre": {"existing": fast}}],
        pool={"zones": ["us-east-1b"]},
        job={
            "nodes": 4,
            "model": {"parameters": 70e9, "sharding": "full"},
            "mounts": [{"storage": "data", "path": "/data"}],
            "checkpoint": {"path": "/data/run", "every": "30m"},
        },
    )
    done = trainyard("report", "lab.yaml", cwd=tmp_path)
    # On EKS a GPU that must be reset costs its node too, so that both are one row.
    (row,) = (row for row in rows(done.out, "Failures") if "Xid: the node must" in row[0])
    assert row[0].startswith("Xid: the GPU must be reset: 46")
    assert row[4:7] == ["from its last checkpoint", "13m to 48m", "15m, 30m at most"]
    assert row[7] == "1.9 to 4.2 node hours, $41 to $92"
    (week,) = rows(done.out, "Failures in a week")
    # 0.11 and 0.18 failures of 32 GPUs in a week; 336 saves of 209 s are 78.1 hours of four nodes, of 672 in all.
    assert week[:4] == ["train", "32", "0.11 to 0.18", "78.2 to 78.8 node hours"]
    assert week[4:6] == ["11.6% to 11.7%", "1,718.17 to 1,730.61"]
    assert week[6:8] == ["30m", "14h"]


def test_numbers_of_checkpoints_timeouts_and_failures_say_why(
    trainyard: Command, folder: Path
) -> None:
    def why(about: str) -> str:
        return trainyard("report", "specs/llama3-8b.yaml", "--why", about, cwd=folder).out

    assert "Checkpoints: llama3-8b-fsdp, write: 24s: 4,688 MB/s, as fast as the disks" in why(
        "checkpoints write"
    )
    assert "419 unexpected interruptions of one job" in why("checkpoints failure every")
    assert "`waitForPodsReady.recoveryTimeout` of Kueue's configuration" in why("timeouts 35m")
    lost = why("failures node lost first")
    assert "notice 0s to 5m50s" in lost
    assert "checkpoint is read 24s" in lost
    assert "arXiv:2410.21680" in why("failures week 0.18")


@pytest.mark.parametrize(
    ("pool", "sick"),
    [
        ({"nodes": {"max": 12}}, "3"),
        ({"nodes": {"max": 4}}, "1"),
        ({"nodes": 4, "managedNodeGroup": {}}, "4"),
        ({"nodes": 12, "managedNodeGroup": {}}, "2"),
        (
            {
                "nodes": 12,
                "managedNodeGroup": {"nodeRepairConfig": {"maxUnhealthyNodeThresholdCount": 5}},
            },
            "5",
        ),
    ],
)
def test_how_many_sick_nodes_are_repaired(
    trainyard: Command, tmp_path: Path, pool: dict[str, object], sick: str
) -> None:
    write(tmp_path, pool=pool)
    text = trainyard("report", "lab.yaml", cwd=tmp_path).out
    (row,) = rows(text, "Repair of nodes")
    assert row[-1] == sick


# --- trust


def test_the_rules_about_trust_are_in_the_section() -> None:
    folder = Path("policies/trust")
    codes = {
        code
        for path in folder.glob("*.py")
        for code in re.findall(r'@rule\(\s*"(\w+)"', path.read_text())
    }
    assert codes <= trust.CODES


def test_each_role_of_people_says_where_it_holds(trainyard: Command, tmp_path: Path) -> None:
    """Roles of the accounts of Flux are none of people."""
    write(tmp_path, namespaces=[{"name": "training", "group": "researchers"}])
    found = rows(
        trainyard("report", "lab.yaml", cwd=tmp_path).out, "Who gets in, what changes hands"
    )
    roles = [row[:2] for row in found if row[0].startswith("role ")]
    assert roles == [
        ["role `training-users` in namespace `training`", "Group `researchers`"],
        ["role `training-users-training` in all", "Group `researchers`"],
    ]


BINDING = {
    "apiVersion": "rbac.authorization.k8s.io/v1",
    "kind": "ClusterRoleBinding",
    "metadata": {"name": "ci"},
    "roleRef": {
        "apiGroup": "rbac.authorization.k8s.io",
        "kind": "ClusterRole",
        "name": "cluster-admin",
    },
    "subjects": [{"kind": "ServiceAccount", "name": "ci", "namespace": "default"}],
}


def test_what_changes_hands_is_named_with_what_is_new(trainyard: Command, tmp_path: Path) -> None:
    for name in ("before", "after"):
        (tmp_path / name).mkdir()
    write(tmp_path / "before", patches=[SUSPENDED])
    assert trainyard("compile", "lab.yaml", cwd=tmp_path / "before").code == 0
    (tmp_path / "after" / "extra.yaml").write_text(dumped(BINDING))
    write(tmp_path / "after", include=["extra.yaml"])
    done = trainyard(
        "report", "lab.yaml", "--against", "../before/generated", cwd=tmp_path / "after"
    )
    found = rows(done.out, "Who gets in, what changes hands")
    assert ["included", "`ClusterRoleBinding/ci` of `extra.yaml`", "new"] in found
    assert ["patched", "`HelmRelease`: `/spec/suspend`", "gone"] in found
    assert ["warning ACC040", "`ci` may do everything in the cluster", "`extra.yaml:10`"] in found


SUSPENDED = {"target": {"kind": "HelmRelease"}, "patch": {"spec": {"suspend": True}}}
