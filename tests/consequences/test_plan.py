"""The command against revisions of a real repository."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from merging import git
from running import EXAMPLE, ROOT, Command, Run, copied, stand_ins
from trainyard.extensions.review.consequences import Consequence

pytestmark = pytest.mark.slow

SPEC = "specs/starter.yaml"
NODES = ("nodes: {max: 2}", "nodes: {max: 4}")


class Repo:
    """A repository with a spec; what is committed is done by its own git."""

    def __init__(self, folder: Path, trainyard: Command) -> None:
        self.folder = folder
        self._trainyard = trainyard
        folder.mkdir(parents=True, exist_ok=True)

    def git(self, *words: str) -> str:
        return git(self.folder, *words).strip()

    def commit(self, message: str = "x") -> str:
        self.git("add", "--all")
        self.git("commit", "--quiet", "--message", message)
        return self.git("rev-parse", "HEAD")

    def run(self, *words: object) -> Run:
        return self._trainyard(*words, cwd=self.folder)

    def edit(self, old: str, new: str, file: str = SPEC) -> None:
        path = self.folder / file
        text = path.read_text()
        assert old in text
        path.write_text(text.replace(old, new))

    def plan(self, *words: object) -> Any:
        done = self.run("plan", "--format", "json", *words)
        assert done.code == 0, done.err
        return json.loads(done.out)


@pytest.fixture(scope="module")
def first(tmp_path_factory: pytest.TempPathFactory, compile_once: Callable[..., None]) -> Path:
    """A repository with one commit of a spec and its output, on ``main``."""
    folder = tmp_path_factory.mktemp("first") / "fleet"
    (folder / "specs").mkdir(parents=True)
    shutil.copy(EXAMPLE / SPEC, folder / SPEC)
    compile_once(folder)
    git(folder, "init", "--quiet", "--initial-branch", "main")
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "--message", "first")
    return folder


@pytest.fixture
def repo(tmp_path: Path, first: Path, trainyard: Command) -> Repo:
    """A copy of it."""
    return Repo(copied(first, tmp_path / "fleet"), trainyard)


def objects(found: Any) -> dict[str, str]:
    """The consequence of each object of the one cluster."""
    (cluster,) = found["clusters"]
    return {change["object"]: change["consequence"] for change in cluster["changes"]}


def test_without_an_edit_there_is_nothing(repo: Repo) -> None:
    done = repo.run("plan", "--detailed-exitcode")
    assert (done.code, done.err) == (0, "")
    head = repo.git("rev-parse", "HEAD")
    assert done.out == f"starter: no changes against HEAD ({head[:12]})\n"
    done = repo.run("plan", "--format", "markdown")
    assert done.out == f"# starter\n\nNo changes against HEAD ({head[:12]}).\n\n"


def test_the_working_tree_is_compared_whether_it_is_committed_or_not(repo: Repo) -> None:
    """A dirty tree, one that is compiled, and a commit on a branch mean the same for the merge."""
    first = repo.git("rev-parse", "HEAD")
    repo.edit(*NODES)
    dirty = repo.plan("--base", first)
    assert objects(dirty)["NodePool/l40s"] == "changes cost or quota"
    assert repo.run("compile").code == 0
    assert repo.plan("--base", first) == dirty
    repo.commit("second")
    assert repo.plan("--base", first) == dirty
    assert repo.plan("--base", "HEAD")["clusters"][0]["changes"] == []
    assert repo.plan("--base", "HEAD~1")["clusters"] == dirty["clusters"]


def test_text_has_consequences_lines_and_sums(repo: Repo) -> None:
    repo.edit(*NODES)
    done = repo.run("plan")
    assert done.code == 0
    line = "specs/starter.yaml:11"
    assert "changes cost or quota\n  ~ NodePool/l40s  platform/nodepool-l40s.yaml\n" in done.out
    assert f'spec.limits["nvidia.com/gpu"]: "16" → "32"  [{line}]' in done.out
    assert "devices: +16 L40S in pool l40s" in done.out
    assert "cost: +$" in done.out
    assert done.out.rstrip().endswith("to change, 0 to replace, 0 to remove")
    whole = repo.run("plan", "--verbose").out
    assert "bootstrap/pools/l40s.md" in whole
    assert "bootstrap/pools/l40s.md" not in done.out


def test_json_has_both_values_and_the_line(repo: Repo) -> None:
    repo.edit(*NODES)
    found = repo.plan()
    assert found["base"] == {"name": "HEAD", "commit": repo.git("rev-parse", "HEAD")}
    (cluster,) = found["clusters"]
    assert cluster["name"] == "starter"
    assert cluster["devices"] == [{"pool": "l40s", "unit": "L40S", "before": 16, "after": 32}]
    assert cluster["usdAnHour"]["after"]["atMost"] > cluster["usdAnHour"]["before"]["atMost"]
    (pool,) = [each for each in cluster["changes"] if each["object"] == "NodePool/l40s"]
    place = {"file": SPEC, "line": 11, "column": 85, "revision": "working tree"}
    (field,) = pool["fields"]
    assert (field["path"], field["before"], field["after"]) == (
        'spec.limits["nvidia.com/gpu"]',
        "16",
        "32",
    )
    assert field["at"] == {**place, "column": field["at"]["column"]}


def test_markdown_is_that_of_the_report(repo: Repo) -> None:
    repo.edit(*NODES)
    plan = repo.run("plan", "--format", "markdown").out
    report = repo.run("report").out
    title = "## What the merge does"
    section = plan.partition(title)[2].partition("<details>")[0]
    assert "`NodePool/l40s`" in section
    assert section in report
    header = plan.partition("**, against")[0]
    assert header.startswith("# starter\n\n**Plan: ")
    assert report.startswith(header)  # which CI posts


@pytest.mark.parametrize(
    ("words", "code"), [((), 0), (("--detailed-exitcode",), 2), (("--detailed",), 2)]
)
def test_exit_codes(repo: Repo, words: tuple[str, ...], code: int) -> None:
    repo.edit(*NODES)
    assert repo.run("plan", *words).code == code


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (("--base", "no-such"), 2),
        (("--base", "no-such", "--detailed-exitcode"), 1),
        (("--format", "xml"), 2),
        (("--format", "xml", "--detailed-exitcode"), 1),
        (("--no-such-option", "--detailed-exitcode"), 1),
    ],
)
def test_an_error_is_never_the_code_of_changes(
    repo: Repo, words: tuple[str, ...], code: int
) -> None:
    assert repo.run("plan", *words).code == code


def test_a_spec_in_error_is_said_and_ends_with_1(repo: Repo) -> None:
    repo.edit("nodes: 2, timeout", "nodes: 3, timeout")
    done = repo.run("plan")
    assert done.code == 1
    assert "error[" in done.err


@pytest.mark.parametrize(
    ("new", "code"), [("instanceTypes: [g6e.none]", "RES005"), ("instanceTypes: [", "YML002")]
)
def test_of_a_spec_without_a_plan_there_is_nothing_to_compare(
    repo: Repo, new: str, code: str
) -> None:
    """Nor is it said that a cluster has no spec here, where a file could not be read."""
    repo.edit("instanceTypes: [g6e.48xlarge]", new)
    done = repo.run("plan")
    assert (done.code, done.out) == (1, "")
    assert f"error[{code}]" in done.err
    assert "PLN006" not in done.err


def test_a_submitted_job_is_that_of_the_base(repo: Repo) -> None:
    """What is committed is the base's: the working tree's output was compiled by nobody yet, or by this branch."""
    shutil.rmtree(repo.folder / "generated")
    repo.edit("timeout: 1h", "timeout: 2h")
    done = repo.run("plan")
    assert done.code == 1
    assert "error[RES030]: job `hello` was submitted as `hello-" in done.err


def test_a_run_again_joins_the_queue_and_the_earlier_run_goes_on(repo: Repo) -> None:
    repo.edit("timeout: 1h", "timeout: 2h, rerun: 1")
    found = repo.plan()
    (cluster,) = found["clusters"]
    runs = {each["action"]: each for each in cluster["changes"] if "TrainJob/" in each["object"]}
    assert runs["added"]["consequence"] == "moves jobs in the queue"
    assert runs["removed"]["consequence"] == "harmless"
    assert "prune: disabled" in runs["removed"]["why"]


def test_a_job_that_has_to_wait_moves_in_the_queue(repo: Repo) -> None:
    job = "    - {name: other, nodes: 2, timeout: 1h, image: registry.test/a:1, command: [torchrun, a.py]}\n"
    path = repo.folder / SPEC
    path.write_text(path.read_text() + job)
    found = repo.plan()
    (cluster,) = found["clusters"]
    moved = {each["object"]: each for each in cluster["changes"] if each["kind"] == "job"}
    assert {each["consequence"] for each in moved.values()} == {"moves jobs in the queue"}
    assert set(moved) == {"job other"}  # the one that runs already keeps its quota
    assert moved["job other"]["at"]["line"] == 14
    shown = repo.run("plan", "--format", "markdown").out
    assert '`` verdict: none → "WAITS FOR `hello`' in shown


def test_the_page_shows_what_is_printed(repo: Repo) -> None:
    """The example of docs/plan.md, but for its commit."""
    page = (ROOT / "docs" / "plan.md").read_text()
    example = page.partition("```text\n")[2].partition("```")[0]
    spec = "specs/two-teams.yaml"
    shutil.copy(EXAMPLE / spec, repo.folder / spec)
    assert repo.run("compile").code == 0
    head = repo.commit("two teams")
    nodes = "nodes: {max: 12}"
    repo.edit(nodes, "nodes: {max: 14}\n      rootVolume: {size: 500Gi}", spec)
    shown = repo.run("plan", spec).out.rstrip("\n")
    base = "the merge base with origin/main (1a2b3c4d5e6f)"
    assert shown.replace(f"HEAD ({head[:12]})", base) == example.rstrip("\n")


def test_the_page_has_every_consequence_in_order() -> None:
    page = (ROOT / "docs" / "plan.md").read_text()
    table = page.partition("| consequence | changes that have it |")[2].partition("\n\n")[0]
    rows = [row.split(" | ")[0].removeprefix("| ") for row in table.strip().splitlines()[1:]]
    assert rows == [str(each) for each in Consequence]


def test_the_page_has_every_key_of_json(repo: Repo) -> None:
    repo.edit(*NODES)
    page = (ROOT / "docs" / "plan.md").read_text()
    for key in _keys(repo.plan()):
        assert f"`{key}`" in page or f"`{key}[]`" in page or f".{key}[]`" in page, key


def _keys(value: Any) -> set[str]:
    """All keys of a value but those of counts, which are consequences."""
    if isinstance(value, list):
        return {key for each in value for key in _keys(each)}
    if not isinstance(value, dict):
        return set()
    found = set(value)
    for key, inner in value.items():
        if key not in ("counts", "before", "after"):
            found |= _keys(inner)
    return found


# --- the report


def test_the_report_says_what_the_merge_does(repo: Repo) -> None:
    assert "What the merge does" not in repo.run("report").out
    repo.edit("nodes: {max: 2}", "nodes: {max: 4}, labels: {a: b}")
    section = repo.run("report").out.partition("## What the merge does")[2].partition("\n## ")[0]
    assert "| replaces nodes | 1 |" in section
    assert "- **replaces nodes**: `~` `NodePool/l40s`: its nodes drift" in section
    assert "[specs/starter.yaml:11]" in section


def test_the_report_of_a_new_cluster_only_counts(repo: Repo) -> None:
    shutil.copytree(repo.folder / "generated", repo.folder / "before")
    shutil.rmtree(repo.folder / "before" / "starter")
    done = repo.run("report", "--against", "before")
    section = done.out.partition("## What the merge does")[2].partition("\n## ")[0]
    assert "The cluster is new: all of it is added." in section
    assert "| moves jobs in the queue | " in section
    assert "TrainJob" not in section


# --- revisions


def test_an_unknown_revision(repo: Repo) -> None:
    done = repo.run("plan", "--base", "origin/main")
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith("error[PLN003]: `origin/main` is no revision of this repository\n")


@pytest.mark.parametrize("ref", ["-x", "--help", ""])
def test_a_revision_is_no_option_of_git(repo: Repo, ref: str) -> None:
    done = repo.run("plan", f"--base={ref}")
    assert (done.code, done.out) == (2, "")
    assert "error[PLN003]" in done.err


def test_no_repository(tmp_path: Path, trainyard: Command, monkeypatch: Any) -> None:
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    (tmp_path / "specs").mkdir()
    shutil.copy(EXAMPLE / SPEC, tmp_path / SPEC)
    done = trainyard("plan", cwd=tmp_path)
    assert done.code == 2
    assert "error[PLN002]" in done.err
    assert "git: fatal: not a git repository" in done.err


def test_no_git(repo: Repo, tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.setenv("PATH", str(tmp_path / "empty"))
    done = repo.run("plan")
    assert done.code == 2
    assert "error[PLN001]: git is not installed" in done.err


def test_a_repository_without_a_commit(tmp_path: Path, trainyard: Command) -> None:
    repo = Repo(tmp_path, trainyard)
    repo.git("init", "--quiet")
    (repo.folder / "specs").mkdir()
    shutil.copy(EXAMPLE / SPEC, repo.folder / SPEC)
    done = repo.run("plan")
    assert done.code == 2
    assert "error[PLN003]: `HEAD` is no revision" in done.err


def test_the_merge_base_is_what_a_pull_request_is_compared_with(
    repo: Repo, tmp_path: Path, trainyard: Command
) -> None:
    """Commits that the default branch has since are not of this branch."""
    clone = Repo(tmp_path / "clone", trainyard)
    clone.git("clone", "--quiet", str(repo.folder), ".")
    clone.git("checkout", "--quiet", "-b", "more-nodes")
    clone.edit(*NODES)
    assert clone.run("compile").code == 0
    clone.commit("more nodes")
    repo.edit("region: us-west-2\n", "region: us-west-2\n  tags: {a: b}\n")
    assert repo.run("compile").code == 0
    repo.commit("tags")
    clone.git("fetch", "--quiet")
    found = clone.plan()
    assert found["base"]["name"] == "the merge base with origin/main"
    assert "EC2NodeClass/l40s" not in objects(found)
    assert objects(found)["NodePool/l40s"] == "changes cost or quota"


def test_a_shallow_clone(repo: Repo, tmp_path: Path, trainyard: Command) -> None:
    repo.edit(*NODES)
    assert repo.run("compile").code == 0
    repo.commit("more nodes")
    clone = Repo(tmp_path / "clone", trainyard)
    clone.git("clone", "--quiet", "--depth", "1", f"file://{repo.folder}", ".")
    done = clone.run("plan", "--base", "HEAD~1")
    assert done.code == 2
    assert "error[PLN003]" in done.err
    clone.git("checkout", "--quiet", "--orphan", "other")
    clone.commit("without history")
    done = clone.run("plan")
    assert done.code == 2
    assert "error[PLN004]: HEAD and `origin/main` share no commit that is here" in done.err
    assert clone.plan("--base", "origin/main")["clusters"][0]["changes"] == []


def test_a_remote_without_a_known_branch(repo: Repo) -> None:
    """CI that fetched the pull request alone: no changes against HEAD would be wrong."""
    repo.git("remote", "add", "origin", "https://git.test/fleet")
    done = repo.run("plan")
    assert done.code == 2
    assert "error[PLN004]: which branch this is merged into is not known here" in done.err


def test_from_before_the_spec_existed(repo: Repo) -> None:
    second = EXAMPLE / "specs" / "two-teams.yaml"
    shutil.copy(second, repo.folder / "specs" / second.name)
    found = repo.plan()
    clusters = {each["name"]: each for each in found["clusters"]}
    assert clusters["starter"]["changes"] == []
    assert clusters["two-teams"]["new"] is True
    assert clusters["two-teams"]["usdAnHour"]["before"]["always"] == 0
    assert clusters["two-teams"]["devices"] == [
        {"pool": "h100", "unit": "H100", "before": 0, "after": 96}
    ]
    assert {each["action"] for each in clusters["two-teams"]["changes"]} == {"added"}
    text = repo.run("plan", "specs/two-teams.yaml").out
    assert "a new cluster, all of which is added" in text


def test_a_renamed_spec_file(repo: Repo) -> None:
    """Lines of the base are those of the file as it was called there."""
    repo.git("mv", SPEC, "specs/lab.yaml")
    repo.edit("timeout: 1h", "timeout: 2h, rerun: 1", "specs/lab.yaml")
    found = repo.plan()
    (cluster,) = found["clusters"]
    places = {
        (each["action"], each["at"]["file"], each["at"]["revision"])
        for each in cluster["changes"]
        if "TrainJob/" in each["object"]
    }
    assert places == {("added", "specs/lab.yaml", "working tree"), ("removed", SPEC, "base")}


def test_output_that_is_not_committed(tmp_path: Path, trainyard: Command) -> None:
    repo = Repo(tmp_path, trainyard)
    repo.git("init", "--quiet")
    (repo.folder / "specs").mkdir()
    shutil.copy(EXAMPLE / SPEC, repo.folder / SPEC)
    (repo.folder / ".gitignore").write_text("generated/\n")
    assert repo.run("compile").code == 0
    repo.commit()
    done = repo.run("plan")
    assert done.code == 0
    assert "note[PLN007]: the base has the spec of `starter`, and no output of it" in done.err
    assert "a new cluster" in done.out


def test_paths_of_a_spec_lead_through_the_whole_base(repo: Repo) -> None:
    """As far as its repository reaches, whose root is that of the copy."""
    rights = "[{apiGroups: [''], resources: [pods], verbs: [get]}]"
    head = (
        "apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\nmetadata: {name: readers}\n"
    )
    (repo.folder / "more.yaml").write_text(f"{head}rules: {rights}\n")
    text = (repo.folder / SPEC).read_text()
    (repo.folder / SPEC).write_text(f"{text}  include: [../more.yaml]\n")
    assert repo.run("compile").code == 0
    repo.commit("more")
    repo.edit(*NODES)
    done = repo.run("plan", "--format", "json")
    assert (done.code, done.err) == (0, "")
    assert "ClusterRole/readers" not in objects(json.loads(done.out))
    repo.edit("[get]", "[get, list]", "more.yaml")
    (cluster,) = repo.plan()["clusters"]
    (field,) = next(e for e in cluster["changes"] if e["object"] == "ClusterRole/readers")["fields"]
    assert (field["at"]["file"], field["at"]["line"]) == ("more.yaml", 4)


def test_a_cluster_that_has_no_spec_any_more(repo: Repo) -> None:
    repo.edit("name: starter", "name: other")
    done = repo.run("plan")
    assert done.code == 0
    assert "note[PLN006]: cluster `starter` of the base has no spec here" in done.err


def test_a_spec_of_the_base_that_is_in_error(repo: Repo) -> None:
    """Removed objects then have the line of their file, and what differs is found all the same."""
    text = (repo.folder / SPEC).read_text()
    (repo.folder / SPEC).write_text(f"{text}  unknown: 1\n")
    repo.commit("broken")
    (repo.folder / SPEC).write_text(text.replace("timeout: 1h", "timeout: 2h, rerun: 1"))
    done = repo.run("plan", "--format", "json")
    assert "note[PLN008]: the spec of `starter` in the base is not compiled" in done.err
    (cluster,) = json.loads(done.out)["clusters"]
    (gone,) = [
        each
        for each in cluster["changes"]
        if each["action"] == "removed" and "TrainJob/" in each["object"]
    ]
    assert gone["at"]["file"].startswith("generated/starter/jobs/")
    assert cluster["usdAnHour"]["before"] is None
    assert cluster["devices"] == []


def test_files_of_the_base_that_are_broken_or_of_others(repo: Repo) -> None:
    platform = repo.folder / "generated" / "starter" / "platform"
    pool = platform / "nodepool-l40s.yaml"
    first, _, _ = pool.read_text().partition("\n")
    pool.write_bytes(f"{first}\n<<<<<<< a\n}}{{\n".encode() + b"\xff\n")
    (platform / "of-others.yaml").write_text("kind: Widget\n")
    repo.commit("broken")
    found = objects(repo.plan())
    assert found["platform/nodepool-l40s.yaml"] == "not known"
    assert found["NodePool/l40s"] == "changes cost or quota"
    assert not [name for name in found if "others" in name or "Widget" in name]


def test_a_broken_repository(repo: Repo) -> None:
    for path in (repo.folder / ".git" / "objects").rglob("*"):
        if path.is_file():
            path.chmod(0o600)
            path.write_bytes(b"")
    done = repo.run("plan")
    assert done.code == 2
    assert "error[PLN00" in done.err


def test_a_folder_below_the_root(repo: Repo, tmp_path: Path, trainyard: Command) -> None:
    whole = Repo(tmp_path / "mono", trainyard)
    whole.git("init", "--quiet")
    shutil.copytree(repo.folder / "specs", whole.folder / "fleet" / "specs")
    shutil.copytree(repo.folder / "generated", whole.folder / "fleet" / "generated")
    inside = Repo(whole.folder / "fleet", trainyard)
    assert inside.run("compile", "specs").code == 0  # Flux reads it at another path
    whole.commit()
    assert inside.plan()["clusters"][0]["changes"] == []
    inside.edit(*NODES)
    found = inside.plan()
    (pool,) = [e for e in found["clusters"][0]["changes"] if e["object"] == "NodePool/l40s"]
    assert pool["at"]["file"] == SPEC


def test_nothing_in_the_repository_changes(repo: Repo) -> None:
    repo.edit(*NODES)
    before = repo.git("status", "--porcelain"), sorted(repo.folder.rglob("*"))
    assert repo.run("plan").code == 0
    assert (repo.git("status", "--porcelain"), sorted(repo.folder.rglob("*"))) == before


def test_names_of_the_folder_of_the_base_are_never_shown(repo: Repo) -> None:
    for path in (repo.folder / "generated" / "starter" / "runs").iterdir():
        path.write_text("{")
    repo.commit("broken run")
    done = repo.run("plan")
    assert "error[CHG008]" in done.err
    assert "/tmp" not in done.err.replace(str(repo.folder), "")


def test_a_git_that_fails(repo: Repo, tmp_path: Path, monkeypatch: Any) -> None:
    real = shutil.which("git")
    script = f'#!/bin/sh\ncase "$*" in *ls-tree*) echo "fatal: no tree" >&2; exit 128;; esac\nexec {real} "$@"\n'
    monkeypatch.setenv("PATH", stand_ins(tmp_path / "bin", {"git": script}))
    done = repo.run("plan")
    assert done.code == 2
    assert "error[PLN005]: git cannot read" in done.err
    assert "git: fatal: no tree" in done.err


TWO = "specs/two-teams.yaml"
MONITORING = ("  nodePools:", "  monitoring: {}\n  nodePools:")
SYSTEM = ("eks: {apiServer", "eks: {systemNodes: {instanceType: c7g.4xlarge}, apiServer")


@pytest.fixture(scope="module")
def two(tmp_path_factory: pytest.TempPathFactory, compile_once: Callable[..., None]) -> Path:
    """The same of two teams."""
    folder = tmp_path_factory.mktemp("two") / "fleet"
    (folder / "specs").mkdir(parents=True)
    shutil.copy(EXAMPLE / TWO, folder / TWO)
    compile_once(folder)
    git(folder, "init", "--quiet", "--initial-branch", "main")
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "--message", "first")
    return folder


@pytest.fixture
def teams(tmp_path: Path, two: Path, trainyard: Command) -> Repo:
    return Repo(copied(two, tmp_path / "fleet"), trainyard)


def moved(found: Any) -> dict[str, str]:
    """The jobs that Kueue treats otherwise, with what it says of them afterwards."""
    (cluster,) = found["clusters"]
    return {
        change["object"]: change["fields"][0].get("after", "")
        for change in cluster["changes"]
        if change["kind"] == "job"
    }


def test_what_a_merge_did_to_runs_is_not_said_of_the_next_one(teams: Repo) -> None:
    """Before is what is committed, the runs as they were submitted: monitoring leaves them no room, once."""
    teams.edit(*MONITORING, TWO)
    teams.edit(*SYSTEM, TWO)
    found = teams.plan()
    assert {name: text.partition(" IF")[0] for name, text in moved(found).items()} == {
        "job pretrain": "FITS ONLY",
        "job finetune": "FITS ONLY",
    }
    (cluster,) = found["clusters"]
    assert [each["code"] for each in cluster["findings"]].count("CHG047") == 2
    text = teams.run("plan").out
    assert "quota is there, nodes for 0 pods" in text
    assert "…" not in text.partition("moves jobs in the queue")[2].partition("\n\n")[0]
    assert teams.run("compile").code == 0
    teams.commit("second")
    teams.edit("monitoring: {}", "monitoring: {gpuUtilization: 60}", TWO)
    found = teams.plan()
    assert moved(found) == {}
    assert "CHG047" not in [each["code"] for each in found["clusters"][0]["findings"]]
    assert [
        each["code"]
        for each in json.loads(teams.run("check", "--format", "json").out)["diagnostics"]
    ].count("CHG047") == 2


def test_a_run_that_goes_on_holds_its_quota_afterwards(teams: Repo) -> None:
    """Its job leaves the spec, and jobs of another queue neither win nor lose by that; nor when another one is done."""
    text = (teams.folder / TWO).read_text()
    job = text[text.index("    - name: pretrain") : text.index("    - name: finetune")]
    teams.edit(job, "", TWO)
    assert moved(teams.plan()) == {}
    assert teams.run("compile").code == 0
    teams.commit("second")
    teams.edit("name: finetune", "name: finetune\n      completed: true", TWO)
    assert moved(teams.plan()) == {}


def test_a_spec_that_was_committed_without_its_output_has_no_jobs_before(teams: Repo) -> None:
    teams.edit("    - name: finetune", f"{ANOTHER}    - name: finetune", TWO)
    teams.commit("no output")
    assert moved(teams.plan()) == {"job another": "FITS"}


ANOTHER = """\
    - name: another
      queue: team-b
      nodes: 1
      image: public.ecr.aws/deep-learning-containers/pytorch-training:2.8.0-gpu-py312-cu129-ubuntu22.04-ec2-v1.0
      command: [torchrun, another.py]
      timeout: 12h
"""


def test_the_base_is_the_whole_folder(tmp_path: Path, trainyard: Command) -> None:
    """A cluster of documents: an edit of one job says nothing of the others, and the cost is known."""
    repo = Repo(tmp_path / "fleet", trainyard)
    home = repo.folder / "specs" / "lab"
    (home / "pools").mkdir(parents=True)
    spec = yaml.safe_load((EXAMPLE / SPEC).read_text())
    head = {"apiVersion": spec["apiVersion"]}
    for kind, key in (("TrainingNodePool", "nodePools"), ("TrainingJob", "jobs")):
        (item,) = spec["spec"].pop(key)
        name = item.pop("name")
        part = {**head, "kind": kind, "metadata": {"name": name}, "spec": item}
        (home / "pools" / f"{key}.yaml").write_text(yaml.safe_dump(part))
    (home / "cluster.yaml").write_text(yaml.safe_dump(spec))
    assert repo.run("compile").code == 0
    repo.git("init", "--quiet", "--initial-branch", "main")
    repo.commit("first")
    repo.edit("max: 2", "max: 4", "specs/lab/pools/nodePools.yaml")
    (cluster,) = repo.plan()["clusters"]
    usd = cluster["usdAnHour"]
    assert usd["after"]["atMost"] > usd["before"]["atMost"] > 0
    assert moved({"clusters": [cluster]}) == {}
    base = tmp_path / "base"
    base.mkdir()
    repo.git("worktree", "add", "--quiet", str(base / "repo"), "HEAD")
    report = repo.run("report", "specs/lab/cluster.yaml", "--against", base / "repo/generated").out
    assert "not known" not in report
    assert "$" in report


def test_a_file_system_that_leaves_the_spec_is_paid_for_on(
    tmp_path: Path, trainyard: Command
) -> None:
    """Nobody deletes what exists by a merge, nor what was made and is retained."""
    repo = Repo(tmp_path / "fleet", trainyard)
    (repo.folder / "specs").mkdir()
    text = (EXAMPLE / SPEC).read_text()
    storage = """\
  storage:
    - name: fsx
      fsxLustre: {existing: {id: fs-0a1b2c3d4e5f60711, mountName: abcdefgh, size: 4800Gi, deployment: PERSISTENT_2,
        throughputPerTiB: 250, version: "2.15", zone: us-west-2a}}
"""
    (repo.folder / SPEC).write_text(text + storage)
    assert repo.run("compile").code == 0
    repo.git("init", "--quiet", "--initial-branch", "main")
    repo.commit("first")
    repo.edit(storage, "")
    (cluster,) = repo.plan()["clusters"]
    usd = cluster["usdAnHour"]
    assert usd["before"] == usd["after"]
    assert usd["staying"] == ["fsx"]
    assert (
        "paid for until somebody deletes it, which the merge does not: `fsx`"
        in repo.run("plan").out
    )
    repo.edit("metadata: {name: starter}", "metadata: {name: starter} ")
    (repo.folder / SPEC).write_text(text + storage.replace("name: fsx", "name: data"))
    assert repo.plan()["clusters"][0]["usdAnHour"]["staying"] == []


def test_a_plan_of_one_folder_says_nothing_of_the_others(
    tmp_path: Path, trainyard: Command
) -> None:
    repo = Repo(tmp_path / "fleet", trainyard)
    text = (EXAMPLE / SPEC).read_text()
    for name in ("one", "two"):
        (repo.folder / "specs" / name).mkdir(parents=True)
        (repo.folder / "specs" / name / "cluster.yaml").write_text(
            text.replace("name: starter", f"name: {name}")
        )
    assert repo.run("compile").code == 0
    repo.git("init", "--quiet", "--initial-branch", "main")
    repo.commit("first")
    assert repo.run("plan", "specs/one").err == ""
    (repo.folder / "specs/two/cluster.yaml").unlink()
    assert "PLN006" in repo.run("plan", "specs").err
