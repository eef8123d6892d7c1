"""``trainyard init``: whatever the answers are, the spec is clean, or it is not written and says why."""

from __future__ import annotations

import os
import pty
import sys
from pathlib import Path

import pytest
import yaml
from running import ROOT, Command, environment
from trainyard.extensions.authoring.init import BOUGHT

pytestmark = pytest.mark.slow

ACCOUNT = ("--account", "111122223333")
BLOCK = {
    "reserved": ("--reservation", "cr-0a1b2c3d4e5f60718"),
    "block": (
        *("--reservation", "cr-0a1b2c3d4e5f60718"),
        *("--starts", "2026-12-01T11:30:00Z", "--ends", "2026-12-15T11:30:00Z"),
    ),
}
TEAM = (
    *("--team", "team-a", "--git-url", "https://github.com/acme/fleet"),
    *("--api", "203.0.113.0/24"),
)
TYPES = (
    ("us-west-2", "p5.48xlarge"),
    ("us-east-1", "H100"),
    ("ap-southeast-3", "p5e.48xlarge"),
    ("us-west-2", "p6-b200.48xlarge"),
    ("ap-northeast-2", "L40S"),
    ("us-west-2", "g6.xlarge"),
    ("us-west-2", "trn1.32xlarge"),
    ("eu-west-1", "m7i.8xlarge"),
    ("us-west-2", "c7g.16xlarge"),
)


@pytest.mark.parametrize("bought", BOUGHT)
@pytest.mark.parametrize(("region", "kind"), TYPES)
def test_every_result_is_clean_and_compiles(
    region: str, kind: str, bought: str, trainyard: Command, tmp_path: Path
) -> None:
    """Or is refused by the rule that says what cannot be bought so, and nothing is written. Every
    number of nodes, with a team and without in turns."""
    turn = TYPES.index((region, kind)) + list(BOUGHT).index(bought)
    for number, nodes in enumerate(("1", "2", "8"), 1):
        team = TEAM if (turn + number) % 2 else ()
        name = f"lab-{number}"
        done = trainyard(
            *("init", "--yes", *ACCOUNT, "--name", name, "--region", region),
            *("--type", kind, "--nodes", nodes, "--buy", bought),
            *BLOCK.get(bought, ()),
            *team,
            cwd=tmp_path,
        )
        path = tmp_path / "specs" / f"{name}.yaml"
        if done.code:
            assert bought == "block"
            assert "is not sold in Capacity Blocks" in done.err
            assert not path.exists()
            continue
        spec = yaml.safe_load(path.read_text())["spec"]
        (pool,) = spec["nodePools"]
        at_most = pool["nodes"]
        assert nodes == str(at_most if isinstance(at_most, int) else at_most["max"])
        if team:
            assert spec["queues"][0]["namespaces"] == ["team-a"]
            assert spec["flux"] == {"url": "https://github.com/acme/fleet"}
    written = sorted((tmp_path / "specs").glob("*.yaml"))
    if written:
        compiled = trainyard("compile", "specs", cwd=tmp_path)
        assert (compiled.code, compiled.out) == (0, "")  # what `check` would find, it would say too


def test_the_result_reads_like_an_example(trainyard: Command, tmp_path: Path) -> None:
    schema = tmp_path / "docs" / "schema.json"
    schema.parent.mkdir()
    schema.write_text("{}")
    done = trainyard(
        *("init", "--yes", *ACCOUNT, "--type", "p5.48xlarge", "--team", "research"), cwd=tmp_path
    )
    assert done.code == 0
    assert (tmp_path / "specs" / "lab.yaml").read_text() == (
        "# yaml-language-server: $schema=../docs/schema.json\n"
        "# `trainyard explain --spec` lists every key, and `trainyard explain cluster` says what is derived.\n"
        "apiVersion: trainyard.dev/v1alpha1\n"
        "kind: TrainingCluster\n"
        "metadata: {name: lab}\n"
        "spec:\n"
        '  account: "111122223333"\n'
        "  region: us-west-2\n"
        "\n"
        "  nodePools:\n"
        "    - {name: h100, instanceTypes: [p5.48xlarge], zones: [us-west-2a], nodes: {max: 2}}\n"
        "\n"
        "  queues:\n"
        "    - {name: research, namespaces: [research], quota: [{pool: h100, nodes: 2}]}\n"
        "\n"
        "  jobs:\n"
        "    # The network between the nodes, before anything is trained on them.\n"
        "    - {name: network, queue: research, nodes: 2, launcher: {ncclTest: {}}}\n"
    )


def test_with_yes_nobody_is_asked_at_a_terminal(
    trainyard: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys.stdin, "isatty", lambda: True)
    monkeypatch.setattr(
        "trainyard.extensions.authoring.init._person", lambda question: pytest.fail(question.text)
    )
    assert trainyard("init", "--yes", *ACCOUNT, cwd=tmp_path).code == 0


@pytest.mark.parametrize(
    ("given", "code", "said"),
    [
        ((), 2, "give `--account`"),
        (("--account", "12"), 2, "`--account 12`: `12` is not an AWS account id"),
        ((*ACCOUNT, "--name", "Lab"), 2, "`Lab` is not a cluster's"),
        ((*ACCOUNT, "--name", "../x"), 2, "is not a cluster's name"),
        ((*ACCOUNT, "--region", "us-west-9"), 2, "region `us-west-9` is unknown"),
        ((*ACCOUNT, "--zone", "us-east-1a"), 2, "is not in region `us-west-2`"),
        ((*ACCOUNT, "--type", "p5.49xlarge"), 2, "did you mean p5.4xlarge?"),
        ((*ACCOUNT, "--type", "B300", "--region", "eu-west-3"), 2, "is `B300`"),
        ((*ACCOUNT, "--nodes", "many"), 2, "is no number of nodes"),
        (
            (*ACCOUNT, "--type", "p5.48xlarge", "--region", "eu-south-1"),
            2,
            "is not offered in eu-south-1",
        ),
        ((*ACCOUNT, "--nodes", "0"), 2, "is no number of nodes"),
        ((*ACCOUNT, "--nodes", "٣"), 2, "is no number of nodes"),
        ((*ACCOUNT, "--buy", "lease"), 2, "write one of on-demand, spot"),
        ((*ACCOUNT, "--buy", "reserved"), 2, "give `--reservation`"),
        ((*ACCOUNT, "--reservation", "cr-0a1b2c3d4e5f60718"), 2, "with `--buy on-demand`"),
        ((*ACCOUNT, "--buy", "reserved", "--reservation", "cr-1"), 2, "`cr-1` is not a capacity"),
        ((*ACCOUNT, "--team", "a, namespaces: [b]}"), 2, "is not a name"),
        ((*ACCOUNT, "--git-url", 'x"\nspec: 1'), 2, "is not the `https://`"),
        ((*ACCOUNT, "--api", "everywhere"), 2, "is not a CIDR block"),
        ((*ACCOUNT, "spec.txt"), 2, "it ends in `.yaml`"),
    ],
)
def test_a_wrong_answer_writes_nothing(
    given: tuple[str, ...], code: int, said: str, trainyard: Command, tmp_path: Path
) -> None:
    done = trainyard("init", "--yes", *given, cwd=tmp_path)
    assert done.code == code, done.err
    assert said in done.err
    assert str(tmp_path) not in done.err
    assert "/tmp/" not in done.err
    assert list(tmp_path.iterdir()) == []


def test_what_is_there_is_never_replaced(trainyard: Command, tmp_path: Path) -> None:
    path = tmp_path / "specs" / "lab.yaml"
    path.parent.mkdir()
    path.write_text("mine")
    done = trainyard("init", "--yes", *ACCOUNT, cwd=tmp_path)
    assert done.code == 2
    assert "`specs/lab.yaml` is there already" in done.err
    assert path.read_text() == "mine"
    path.unlink()
    path.symlink_to("nowhere")
    assert trainyard("init", "--yes", *ACCOUNT, cwd=tmp_path).code == 2
    assert path.is_symlink()


def _typed(text: str, folder: Path, *given: str) -> tuple[int, str]:
    """Run ``init`` at a terminal, where somebody types; the exit code, and what the terminal shows."""
    child, terminal = pty.fork()
    if child == 0:  # pragma: no cover
        os.chdir(folder)
        words = [sys.executable, "-m", "trainyard", "init", *given]
        os.execve(sys.executable, words, environment())
    os.write(terminal, text.encode())
    shown = b""
    while True:
        try:
            more = os.read(terminal, 4096)
        except OSError:
            break
        if not more:
            break
        shown += more
    _, status = os.waitpid(child, 0)
    return os.waitstatus_to_exitcode(status), shown.decode()


def test_a_person_is_asked_for_what_no_option_says(tmp_path: Path) -> None:
    """An empty line takes the default; without one it is asked again."""
    typed = "\n\n111122223333\nus-east-1\nH100\n\n4\nspot\nteam-a\n\n\n"
    code, shown = _typed(typed, tmp_path)
    assert code == 0, shown
    assert "Name of the cluster [lab]: " in shown
    assert shown.count("AWS account") == 2
    spec = yaml.safe_load((tmp_path / "specs" / "lab.yaml").read_text())["spec"]
    assert spec["region"] == "us-east-1"
    assert spec["nodePools"][0]["instanceTypes"] == ["p5.48xlarge"]
    assert spec["nodePools"][0]["nodes"] == {"max": 4}
    assert spec["nodePools"][0]["capacity"] == {"spot": {}}


def test_a_wrong_answer_is_told_at_its_question_and_asked_again(tmp_path: Path) -> None:
    typed = (
        "My Lab\nlab\n12\n111122223333\nmars\nus-west-9\nus-east-1\np5.49xlarge\nH100\nus-west-2a\nus-east-1a\n0\n"
        "6000\n4\n"
        "lease\nblock\ncr-1\ncr-0a1b2c3d4e5f60718\ntomorrow\n2026-12-01T11:30:00Z\nlater\n"
        "2026-11-15T11:30:00Z\n2027-11-15T11:30:00Z\n2026-12-15T11:30:00Z\n"
        "A_B\nteam-a\nnowhere\n\n10.0.0.0/99\n203.0.113.0/24\n"
    )
    code, shown = _typed(typed, tmp_path)
    assert code == 0, shown
    for wrong in (
        "is not a cluster's name",
        "is not an AWS account id",
        "is not an AWS Region",
        "region `us-west-9` is unknown",
        "did you mean p5.4",
        "is not in region `us-east-1`",
        "is no number of nodes",
        "less than or equal to 5000",
        "write one of on-demand",
        "`cr-1` is not a capacity reservation id",
        "`tomorrow` is not a time",
        "`later` is not a time",
        "before it starts",
        "a Capacity Block at most 182",
        "`A_B` is not a name",
        "is not the `https://`",
        "is not a CIDR block",
    ):
        assert shown.count(wrong) == 1, wrong
    for question in ("Name of the cluster", "AWS account, 12", "Zone, or", "How they are bought"):
        assert shown.count(question) == 2


def test_a_type_without_capacity_blocks_is_told_when_one_is_chosen(tmp_path: Path) -> None:
    code, shown = _typed("lab\n111122223333\n\n\n\n\nblock\non-demand\n\n\n\n", tmp_path)
    assert code == 0, shown
    assert shown.count("`g6e.48xlarge` is not sold in Capacity Blocks") == 1


def test_a_wrong_option_ends_it_before_anybody_is_asked(tmp_path: Path) -> None:
    code, shown = _typed("", tmp_path, "--api", "everywhere")
    assert code == 2
    assert "`--api everywhere`" in shown
    assert "Name of the cluster" not in shown


def test_what_options_say_is_not_asked(tmp_path: Path) -> None:
    code, shown = _typed("\n" * 9, tmp_path, *ACCOUNT, "--name", "asked")
    assert code == 0, shown
    assert "AWS account" not in shown
    assert "Name of" not in shown
    assert (tmp_path / "specs" / "asked.yaml").is_file()


def test_a_person_who_leaves_writes_nothing(tmp_path: Path) -> None:
    code, shown = _typed("lab\n\x04", tmp_path)
    assert code == 2
    assert "no answer: nothing was written" in shown
    assert list(tmp_path.iterdir()) == []


def test_the_repository_has_what_the_first_line_names() -> None:
    assert (ROOT / "docs" / "schema.json").is_file()
