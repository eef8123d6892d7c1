"""Each command with its options: what it prints where, and its exit code."""

from __future__ import annotations

import json
import os
import re
import shutil
import sys
from pathlib import Path

import pytest
from running import EXAMPLE, SPECS, Command, Run, snapshot, spawn
from trainyard import __version__
from trainyard.catalog import load_catalog
from trainyard.cli import commands, grammar
from trainyard.cli.arguments import FORMATS
from trainyard.cli.grammar import parser
from trainyard.language.diagnostics.render import FORMATS as RENDERERS

from tests.policy.harness import builtin_rules

EXTENSIONS = Path(grammar.__file__).parents[1] / "extensions"
STARTER = SPECS / "starter.yaml"
BAD = Path(__file__).parent.parent / "bad_input" / "cases"


def test_every_renderer_can_be_asked_for() -> None:
    assert sorted(FORMATS) == sorted(RENDERERS)


def test_every_module_of_a_command_can_be_asked_for() -> None:
    folders = [Path(commands.__file__).parent, *EXTENSIONS.glob("*/commands")]
    modules = {path.stem for folder in folders for path in folder.glob("*.py")}
    assert sorted(grammar.commands()) == sorted(modules - {"__init__"})


@pytest.mark.needs("review")
def test_a_run_loads_the_command_alone_that_it_names() -> None:
    assert "check" in parser(["-q", "check", "report"]).format_help()
    assert "report" not in parser(["-q", "check", "report"]).format_help()
    assert "report" in parser(["--help", "check"]).format_help()


@pytest.mark.parametrize(
    ("columns", "width"), [("100", 98), ("", 78), ("0", 78), ("wide", 78), (None, 78)]
)
def test_help_is_as_wide_as_the_terminal(
    columns: str | None, width: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without one, 80 columns, of which argparse leaves two empty."""
    if columns is None:
        monkeypatch.delenv("COLUMNS", raising=False)
    else:
        monkeypatch.setenv("COLUMNS", columns)
    assert grammar._width.__wrapped__() == width


def test_version(trainyard: Command) -> None:
    assert trainyard("--version").out == f"trainyard {__version__}\n"


@pytest.mark.needs("lint", "forecast", "review", "operate")
@pytest.mark.parametrize(
    "command",
    ["", "compile", "check", "lint", "explain", "schema", "catalog", "drill", "completion"],
)
def test_help(command: str, trainyard: Command) -> None:
    done = trainyard(*command.split(), "--help")
    assert done.code == 0
    assert done.out.startswith(f"usage: trainyard {command}".rstrip())
    assert "exit codes:" in trainyard("--help").out


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([], "the following arguments are required: COMMAND"),
        (["chekc"], "invalid choice: 'chekc'"),
        (["lint"], "the following arguments are required: PATH"),
        (["check", "--nope"], "unrecognized arguments: --nope"),
        (
            ["check", "--format", "yaml"],
            f"`yaml` is no format: write one of {', '.join(FORMATS)}\n",
        ),
        (
            ["check", "--format", "text", "--format", "json"],
            "only one format can go to standard output",
        ),
        (
            ["check", "--format", "json=out", "--format", "sarif=out"],
            "two formats go to `out`: give each a file",
        ),
        (["check", "--format", "json=a.yaml"], "`a.yaml` may be a spec, and no format is YAML"),
        (
            ["check", "--format", "sarif="],
            "`sarif=` names no file: write `sarif` for standard output, or `sarif=FILE`",
        ),
        (["check", "--fail-on", "fatal"], "invalid choice: 'fatal'"),
        (["check", "--policies", "nowhere"], "`nowhere` is not a folder with policies"),
        (["explain", "EFA999"], "there is no code `EFA999`"),
        (
            ["explain", "job/helo"],
            "there is no code or object `job/helo`: did you mean `job/hello`?",
        ),
        (["explain", "job/hello", "colour"], "nothing is known of field `colour` of `job/hello`"),
        (["schema", "TrainingJob"], "unrecognized arguments: TrainingJob"),
        (["catalog", "p9.48xlarge"], "no type matches `p9.48xlarge`: did you mean p5.48xlarge?"),
        (["catalog", "zzz"], "no type matches `zzz`\n"),
        (["catalog", "refresh"], "give at least one `--region`"),
        (
            ["catalog", "--catalog", "nowhere"],
            "error[CAT001]: catalog file `nowhere` cannot be read",
        ),
        (
            ["init", "--yes", "--account", "111122223333", "--catalog", "nowhere"],
            "error[CAT001]: catalog file `nowhere` cannot be read",
        ),
        (["completion", "tcsh"], "invalid choice: 'tcsh'"),
    ],
)
def test_wrong_usage(arguments: list[str], words: str, trainyard: Command) -> None:
    """Reported on standard error, in a line; exit code 2; nothing on standard output."""
    done = trainyard(*arguments, cwd=SPECS.parent)
    assert words in done.err
    assert (done.code, done.out) == (2, "")
    assert "Traceback" not in done.err


def test_a_working_directory_that_is_gone(trainyard: Command, tmp_path: Path) -> None:
    (tmp_path / "gone").mkdir()
    os.chdir(tmp_path / "gone")
    (tmp_path / "gone").rmdir()
    try:
        done = trainyard("check", "spec.yaml")
    finally:
        os.chdir(EXAMPLE)
    assert done == Run(
        2, "", "trainyard: the working directory does not exist any more: change to one that does\n"
    )


@pytest.mark.slow
def test_check_of_good_specs(trainyard: Command) -> None:
    """The images of the workshop are built first, by the team that takes it: three lessons wait for them."""
    done = trainyard("check", SPECS)
    assert (done.code, done.err) == (0, "3 warnings\n")
    for job in ("llama3-1b", "llama3-8b-fp8", "llama3-8b-zero3"):
        waits = f"warning[RES141]: job `{job}` waits for the first build"
        assert waits in done.out
    done = trainyard("check", SPECS / "starter.yaml", SPECS / "two-teams.yaml")
    assert (done.code, done.out) == (0, "")
    assert done.err == "clean: starter, two-teams\n"


def test_check_writes_nothing(trainyard: Command, tmp_path: Path) -> None:
    shutil.copy(STARTER, tmp_path)
    before = snapshot(tmp_path)
    assert trainyard("check", "starter.yaml", cwd=tmp_path).code == 0
    assert snapshot(tmp_path) == before


def test_specs_is_the_default(trainyard: Command, tmp_path: Path) -> None:
    (tmp_path / "specs").mkdir()
    shutil.copy(STARTER, tmp_path / "specs")
    assert trainyard("check", cwd=tmp_path).err == "clean: starter\n"


def test_quiet_says_findings_only(trainyard: Command) -> None:
    assert trainyard("check", "-q", STARTER).err == ""
    done = trainyard("check", "-q", BAD / "unknown-type.yaml")
    assert (done.code, done.err) == (1, "")
    assert done.out.startswith("error[RES005]: instance type `p5.49xlarge` is unknown\n")


@pytest.mark.parametrize(
    "words", [["-q", "check"], ["check", "-q"], ["--quiet", "check", "-v"], ["-qv", "check"]]
)
def test_options_of_all_commands_stand_before_or_behind(
    words: list[str], trainyard: Command
) -> None:
    assert trainyard(*words, STARTER).err == ""
    assert trainyard("-v", "check", STARTER).err == "clean: starter\n"


@pytest.mark.slow
def test_compile_check_and_compile_again(trainyard: Command, tmp_path: Path) -> None:
    """Stale, written, current, changed by hand: each reported, with its exit code."""
    shutil.copy(STARTER, tmp_path)
    done = trainyard("compile", "--check", "starter.yaml", cwd=tmp_path)
    assert done.code == 3
    assert re.match(r"generated/starter: not current: \d+ added\n  \+ .manifest.json\n", done.err)
    *_, more, advice = done.err.splitlines()
    assert re.fullmatch(r"  and \d+ more: `--verbose` lists them", more)
    assert advice == "run `trainyard compile`, and commit `generated`"
    assert not (tmp_path / "generated").exists()
    assert trainyard("compile", "starter.yaml", cwd=tmp_path).code == 0
    before = snapshot(tmp_path)
    assert re.fullmatch(
        r"generated/starter: current, \d+ files\n", trainyard("compile", "starter.yaml").err
    )
    assert trainyard("compile", "--check", "starter.yaml").code == 0
    assert snapshot(tmp_path) == before
    page = tmp_path / "generated/starter/bootstrap/README.md"
    page.write_text(page.read_text() + "by hand\n")
    done = trainyard("compile", "--check", "starter.yaml")
    assert (done.code, done.err.splitlines()[-2]) == (3, "  ~ bootstrap/README.md")
    done = trainyard("compile", "-v", "starter.yaml")
    assert (done.code, done.err.splitlines()[-2:]) == (
        0,
        ["generated/starter: 1 changed", "  ~ bootstrap/README.md"],
    )
    assert {path for path, _ in snapshot(tmp_path).items()} == {path for path, _ in before.items()}


@pytest.mark.slow
def test_compile_to_another_folder(trainyard: Command, tmp_path: Path) -> None:
    assert trainyard("compile", STARTER, "-o", tmp_path / "a" / "b").code == 0
    assert (tmp_path / "a" / "b" / "starter" / "bootstrap" / "README.md").is_file()


def test_explain_a_code_by_code_and_by_slug(trainyard: Command) -> None:
    """Of the compiler and of a policy."""
    for code, slug in (("YML001", "duplicate-key"), ("EFA001", "efa-missing")):
        done = trainyard("explain", code)
        assert done.code == 0
        assert done.out.startswith(f"{code} {slug}")
        assert trainyard("explain", slug).out == trainyard("explain", code.lower()).out == done.out


def test_explain_a_rule_by_its_former_slug(trainyard: Command) -> None:
    done = trainyard("explain", "no-nodes")
    assert done.out == trainyard("explain", "RUN002").out
    assert done.out.startswith("RUN002 job-without-nodes (error)")


def test_explain_a_rule_that_is_off(trainyard: Command, tmp_path: Path) -> None:
    """A built-in one and an own one, in its page and in the list."""
    (tmp_path / "policies").mkdir()
    (tmp_path / "policies" / "mine.yaml").write_text(
        "code: ORG001\nslug: no-owner\nmatch: {apiVersion: v1, kind: Pod}\nschema: {}\n"
        "message: no owner\nenabled: false\nseverity: warning\n"
    )
    for code, slug, level in (
        ("PLC035", "no-spare-node", "note"),
        ("ORG001", "no-owner", "warning"),
    ):
        page = trainyard("explain", code, cwd=tmp_path).out
        assert page.startswith(
            f"{code} {slug} (off by default)\n\n"
            f"To enable it, set `{code}: {level}` under `levels:` of `policies/policy.yaml`.\n"
        )
    rows = trainyard("explain", cwd=tmp_path).out.splitlines()
    off = [row.split()[0] for row in rows if row.endswith(" (off by default)")]
    built_in = [rule.code for rule in builtin_rules() if not rule.enabled]
    assert off == sorted(["ORG001", *built_in])
    assert "PLC035" in off


def test_explain_a_slug_of_two_codes(trainyard: Command) -> None:
    """Both pages: of two compiler codes, and of a compiler code and a rule."""
    for slug, codes in (
        ("wrong-type", ["SCH002", "SPC003"]),
        ("unknown-instance-type", ["RES005", "PLC018"]),
    ):
        done = trainyard("explain", slug)
        assert re.findall(rf"^([A-Z]+\d+) {slug}", done.out, re.MULTILINE) == codes
        assert done.out == "\n".join(trainyard("explain", code).out for code in codes)


def test_explain_lists_all_codes(trainyard: Command, tmp_path: Path) -> None:
    """Those of the rules beside the specs, too."""
    (tmp_path / "policies").mkdir()
    (tmp_path / "policies" / "mine.yaml").write_text(
        "code: ORG001\nslug: no-owner\nmatch: {apiVersion: v1, kind: Pod}\nschema: {}\n"
        "message: no owner\nhelp: add one\n"
    )
    done = trainyard("explain", cwd=tmp_path)
    assert done.code == 0
    rows = [re.split(" {2,}", line) for line in done.out.splitlines()]
    codes = [code for code, *_ in rows[1:]]
    assert codes == sorted(codes)
    assert {"YML001", "EFA001", "ORG001"} <= set(codes)
    assert ["ORG001", "no-owner", "no owner"] in rows
    assert all(len(row) == 3 for row in rows)


def test_policies_are_named_as_specs_are(trainyard: Command, tmp_path: Path) -> None:
    """Relative to the working directory, as annotations of a pull request need it."""
    (tmp_path / "policies").mkdir()
    (tmp_path / "policies" / "bad.py").write_text("def x(: ")
    shutil.copy(STARTER, tmp_path / "spec.yaml")
    assert "--> policies/bad.py:1:1" in trainyard("check", "spec.yaml", cwd=tmp_path).out


@pytest.mark.parametrize(
    ("words", "answer"),
    [
        (["efa-mising"], "there is no code or object `efa-mising`: did you mean `efa-missing`?"),
        (["efa999"], "there is no code `efa999`: `trainyard explain` lists all"),
        (["job/helo"], "there is no code or object `job/helo`: did you mean `job/hello`?"),
        (
            ["NodePool/l40"],
            "there is no code or object `NodePool/l40`: did you mean `NodePool/l40s`?",
        ),
        (
            ["job/hello", "efa"],
            "nothing is known of field `efa` of `job/hello`: write one of `resources.efa`",
        ),
        (
            ["job/hello", "resource"],
            "nothing is known of field `resource` of `job/hello`: did you mean `resources.efa`?",
        ),
    ],
)
def test_explain_what_is_not_there(
    words: list[str], answer: str, trainyard: Command, tmp_path: Path
) -> None:
    queues = "  queues: [{name: all, namespaces: [team], quota: [{pool: l40s, nodes: 2}]}]\n"
    (tmp_path / "spec.yaml").write_text(STARTER.read_text() + queues)
    done = trainyard("explain", *words, "--in", "spec.yaml", cwd=tmp_path)
    assert (done.code, done.out, done.err) == (2, "", f"trainyard: {answer}\n")


@pytest.mark.needs("parallelcluster")
def test_explain_an_object_of_which_nothing_is_derived(trainyard: Command) -> None:
    done = trainyard("explain", "queue/atlas", "--in", SPECS / "jakarta-slurm.yaml")
    assert (done.code, done.out) == (2, "")
    words = "no value of `queue/atlas` is derived: the spec sets all of them"
    assert done.err == f"trainyard: {words}\n"


def test_a_field_that_the_spec_sets_is_shown_where_it_does(trainyard: Command) -> None:
    done = trainyard("explain", "storage/scratch", "size", "--in", SPECS / "jakarta")
    said = "the spec sets all of them, `size` is `7200Gi` at "
    assert f"no value of `storage/scratch` is derived: {said}" in done.err
    place = done.err.strip().rpartition(" at ")[2]
    file, line, column = place.rsplit(":", 2)
    text = (SPECS / "jakarta" / Path(file).name).read_text().splitlines()[int(line) - 1]
    assert text[int(column) - 1 :].startswith("7200Gi")


def test_explain_an_object(trainyard: Command) -> None:
    """Every derived value with its reason; a field narrows; a rendered object has its lines."""
    done = trainyard("explain", "job/hello", "--in", STARTER)
    assert done.code == 0
    assert done.out.startswith("job/hello in starter\n")
    row = r"^  resources.efa +4\n +2 nodes talk over all EFA devices of g6e.48xlarge \[EC2"
    assert re.search(row, done.out, re.MULTILINE)
    done = trainyard("explain", "job/hello", "resources", "--in", STARTER)
    fields = re.findall(r"^  (\S+) ", done.out, re.MULTILINE)
    assert fields
    assert all(field.startswith("resources") for field in fields)
    done = trainyard("explain", "NodePool/l40s", "spec.template", "--in", STARTER)
    assert re.search(r"^  spec\.template\.spec\S+: .*starter\.yaml:11:\d+$", done.out, re.MULTILINE)


@pytest.mark.slow
def test_every_derived_value_is_reported_with_its_source(trainyard: Command) -> None:
    """In brackets after the reason: an upstream document, a place in the spec, or that it is a default of ours."""
    jobs = [path.stem for path in (SPECS / "jakarta" / "jobs").glob("*.yaml")]
    assert len(jobs) == 7
    objects = [
        *(f"job/{name}" for name in sorted(jobs)),
        "pool/h200",
        "queue/atlas",
        "cluster",
        "kueue",
        "health",
    ]
    for each in objects:
        done = trainyard("explain", each, "--in", "specs/jakarta", cwd=EXAMPLE)
        reasons = done.out.splitlines()[2::2]
        assert done.code == 0
        assert reasons
        assert all(re.search(r"\S \[[^]]+.*\]$", line) for line in reasons)
    done = trainyard("explain", "job/atlas", "env.CHECKPOINT_DIR", "--in", "specs/jakarta")
    assert "[specs/jakarta/jobs/atlas.yaml:16:22]" in done.out


def test_explain_tells_fields_that_are_there(trainyard: Command) -> None:
    """What was left out has no place in what is written."""
    out = trainyard("explain", "NodePool/l40s", "--in", STARTER).out
    assert "  spec.limits: " in out
    assert "spec.replicas" not in out
    done = trainyard("explain", "NodePool/l40s", "spec.replicas", "--in", STARTER)
    assert (done.code, done.out) == (2, "")


def test_explain_without_specs(trainyard: Command, tmp_path: Path) -> None:
    done = trainyard("explain", "job/hello", cwd=tmp_path)
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith(
        "trainyard: no spec could be read in `specs`, so nothing is known of `job/hello`: "
    )


def test_explain_in_specs_with_faults(trainyard: Command) -> None:
    done = trainyard("explain", "job/train", "--in", BAD / "unknown-type.yaml")
    assert (done.code, done.out) == (2, "")
    assert done.err == "trainyard: the specs have faults: `trainyard check` reports them\n"


def test_catalog(trainyard: Command) -> None:
    """All, one type, an accelerator, the sources."""
    every = trainyard("catalog")
    assert every.code == 0
    assert len(every.out.splitlines()) > 100
    head, row = trainyard("catalog", "p5.48xlarge").out.splitlines()
    assert head.split()[:3] == ["type", "arch", "accelerators"]
    assert row.startswith("p5.48xlarge  amd64  8 x H100")
    assert {
        line.split()[0].split(".")[0] for line in trainyard("catalog", "b300").out.splitlines()[1:]
    } == {"p6-b300"}
    sources = trainyard("catalog", "sources").out
    assert load_catalog().newest_release.components["karpenter"].source in sources


def test_policies_folder(trainyard: Command, tmp_path: Path) -> None:
    """Beside the spec it is found; elsewhere it is named."""
    shutil.copy(BAD / "placement-group-with-block.yaml", tmp_path / "spec.yaml")
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "policy.yaml").write_text("levels: {PLC006: warning}\n")
    assert trainyard("check", "spec.yaml", cwd=tmp_path).code == 1
    done = trainyard("check", "spec.yaml", "--policies", "elsewhere")
    assert (done.code, done.out.splitlines()[0][:16]) == (0, "warning[PLC006]:")
    (tmp_path / "elsewhere").rename(tmp_path / "policies")
    assert trainyard("check", "spec.yaml").code == 0


@pytest.mark.slow
@pytest.mark.parametrize(
    ("level", "code"), [("error", 0), ("warning", 1), ("note", 1), ("never", 0)]
)
def test_fail_on(level: str, code: int, trainyard: Command, tmp_path: Path) -> None:
    """A warning fails a run from `warning` on; what fails is not compiled."""
    shutil.copy(BAD / "placement-group-with-block.yaml", tmp_path / "spec.yaml")
    (tmp_path / "policies").mkdir()
    (tmp_path / "policies" / "policy.yaml").write_text("levels: {PLC006: warning}\n")
    assert trainyard("check", "--fail-on", level, "spec.yaml", cwd=tmp_path).code == code
    assert trainyard("compile", "--fail-on", level, "spec.yaml").code == code
    assert (tmp_path / "generated").exists() == (code == 0)


@pytest.mark.slow
def test_never_failing_writes_no_errors(trainyard: Command, tmp_path: Path) -> None:
    """`--fail-on never` makes a check pass, but a spec with errors is not compiled."""
    case = BAD / "quota-above-capacity.yaml"
    assert trainyard("check", "--fail-on", "never", case).code == 0
    done = trainyard("compile", "--fail-on", "never", case, "-o", "generated", cwd=tmp_path)
    assert done.code == 1
    assert not (tmp_path / "generated").exists()


def test_a_refreshed_catalog_is_used(trainyard: Command, tmp_path: Path) -> None:
    """A file that is no catalog is reported, with exit code 2."""
    (tmp_path / "catalog.json").write_text("[]")
    done = trainyard("check", STARTER, "--catalog", tmp_path / "catalog.json", "--format", "json")
    assert done.code == 2
    assert [each["code"] for each in json.loads(done.out)["diagnostics"]] == ["CAT002"]


@pytest.mark.slow
def test_what_a_refresh_says(
    trainyard: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from trainyard.extensions.facts import refresh

    patch = refresh.CatalogPatch("{}", 287, ("us-west-2", "us-east-1"))
    monkeypatch.setattr(refresh, "refresh", lambda *_: patch)
    done = trainyard(
        "catalog", "refresh", "--region", "us-west-2", "--region", "us-east-1", cwd=tmp_path
    )
    assert done.err == "catalog.json: 287 types of us-west-2, us-east-1; use it with `--catalog`\n"
    assert (done.code, (tmp_path / "catalog.json").read_text()) == (0, "{}")


@pytest.mark.slow
def test_a_refresh_that_fails_writes_nothing(
    trainyard: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from trainyard.extensions.facts import refresh

    words = ("catalog", "refresh", "--region", "us-west-2")
    for variable in ("AWS_CONFIG_FILE", "AWS_SHARED_CREDENTIALS_FILE"):
        monkeypatch.setenv(variable, os.devnull)
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    done = trainyard(*words, cwd=tmp_path)
    assert (done.code, done.out) == (2, "")
    assert "error[CAT004]: EC2 in `us-west-2` did not answer: Unable to locate" in done.err

    monkeypatch.setattr(refresh, "refresh", lambda *_: refresh.CatalogPatch("{}", 1, ("a",)))
    done = trainyard(*words, "-o", "nowhere/catalog.json", cwd=tmp_path)
    assert (done.code, done.out) == (2, "")
    assert "error[CAT005]: catalog file `nowhere/catalog.json` cannot be written" in done.err
    assert "use it with" not in done.err

    monkeypatch.setitem(sys.modules, "boto3", None)
    done = trainyard(*words, cwd=tmp_path)
    assert (done.code, done.out) == (2, "")
    assert "error[CAT003]: `catalog refresh` needs boto3" in done.err
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
def test_a_process_of_its_own() -> None:
    """`python -m trainyard` is the same command, and starts no Node for a check."""
    done = spawn("check", "specs/starter.yaml", PATH="/nonexistent")
    assert (done.code, done.out, done.err) == (0, "", "clean: starter\n")


@pytest.mark.parametrize("prefix", ["PLC03", "plc03", "PLC"])
def test_the_beginning_of_codes_lists_them(prefix: str, trainyard: Command) -> None:
    done = trainyard("explain", prefix)
    head, *rows = done.out.splitlines()
    assert done.code == 0
    assert head.split()[0] == "code"
    assert len(rows) > 5
    assert all(row.startswith(prefix.upper()) for row in rows)
    assert any("karpenter-feature-gate-off" in row for row in rows)


@pytest.mark.needs("parallelcluster")
def test_a_beginning_that_no_code_has_is_unknown(trainyard: Command) -> None:
    done = trainyard("explain", "XYZ")
    assert (done.code, "there is no code or object `XYZ`" in done.err) == (2, True)
