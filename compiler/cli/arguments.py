"""The grammar of the command line."""

from __future__ import annotations

import argparse
import os
from functools import cache
from pathlib import Path
from typing import TypeAlias

from compiler import __version__

FORMATS = ("text", "json", "sarif", "github", "junit", "markdown")
LEVELS = ("error", "warning", "note", "never")
SHELLS = ("bash", "zsh", "fish")
WORDS = ("codes", "objects", "types", "regions", "keys", "kinds")
SPECS = "specs"
Commands: TypeAlias = "argparse._SubParsersAction[argparse.ArgumentParser]"

EXIT_CODES = """exit codes:
  0  clean
  1  findings at or above the fail level
  2  wrong usage, or input or output that cannot be read or written
  3  the committed output is not what the spec compiles to (compile --check)
  4  a fault of Trainyard itself
  5  the cluster is not what the committed output says (drift)"""
RULES_ARE_CODE = """\
Rules in Python are code, as tests are, and run with your rights. They come from `policies/` of the working directory
or from --policies, never from what is read. CI runs those of a pull request, a fork's too, without secrets and with a
token that only reads. Rules in YAML (JSON Schema or CEL) need no trust."""


class _Formatter(argparse.HelpFormatter):
    """As wide as the terminal. argparse makes one for each option, and would ask ``shutil`` for the width, which loads
    four libraries of compression: 2 % of a ``check``."""

    def __init__(self, prog: str) -> None:
        super().__init__(prog, width=_width())


class _Verbatim(_Formatter, argparse.RawDescriptionHelpFormatter):
    """Leaves the lines of descriptions as they are."""


_STDOUT = 1


@cache
def _width() -> int:
    """Columns of help, as argparse counts them: ``COLUMNS``, or the terminal's, or 80, less a margin of two."""
    given = os.environ.get("COLUMNS", "")
    if given.isdigit():
        columns = int(given)
    else:
        columns = 0
    if not columns:
        try:
            columns = os.get_terminal_size(_STDOUT).columns
        except OSError:
            columns = 80
    return (columns or 80) - 2


def parser() -> argparse.ArgumentParser:
    """The whole grammar. ``completion`` and the documentation are generated from it."""
    top = argparse.ArgumentParser(
        prog="trainyard",
        description="Compile training cluster specs into what Flux, eksctl and EKS need.",
        formatter_class=_Verbatim,
        epilog=f"{EXIT_CODES}\n\n{RULES_ARE_CODE}",
    )
    top.add_argument("--version", action="version", version=f"trainyard {__version__}")
    _common(top, default=False)
    # Without `prog`, argparse formats a usage for it, and loads four libraries of compression on its way.
    commands = top.add_subparsers(
        dest="command", metavar="COMMAND", required=True, prog="trainyard"
    )
    _init(commands)
    _compile(commands)
    _check(commands)
    _plan(commands)
    _report(commands)
    _simulate(commands)
    _fit(commands)
    _lint(commands)
    _test(commands)
    _fmt(commands)
    _explain(commands)
    _schema(commands)
    _catalog(commands)
    _drill(commands)
    _status(commands)
    _logs(commands)
    _drift(commands)
    _debug(commands)
    _completion(commands)
    return top


def _command(commands: Commands, name: str, help: str) -> argparse.ArgumentParser:
    first = help[0].upper()
    description = f"{first}{help[1:]}."
    command = commands.add_parser(
        name, help=help, description=description, formatter_class=_Formatter
    )
    # Options before the command are not reset by the defaults of those after it.
    _common(command, default=argparse.SUPPRESS)
    return command


def _common(parser: argparse.ArgumentParser, default: object) -> None:
    """The options that may be given before or after the command."""
    for flags, help in (
        (("--no-color",), "plain text (NO_COLOR does the same)"),
        (("-q", "--quiet"), "findings only, no progress and no summary"),
        (("-v", "--verbose"), "say more: every file, and where a fault arose"),
    ):
        parser.add_argument(*flags, action="store_true", default=default, help=help)


def _judging(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--format",
        action="append",
        metavar="FORMAT[=FILE]",
        dest="formats",
        help=f"{', '.join(FORMATS)}; into FILE if given; may be given several times (default: text)",
    )
    command.add_argument(
        "--fail-on",
        choices=LEVELS,
        default="error",
        metavar="LEVEL",
        help=f"lowest level that fails the run: {', '.join(LEVELS)} (default: error)",
    )
    _rules_and_facts(command)
    command.add_argument(
        "--cache-dir",
        type=Path,
        metavar="DIR",
        help="where is kept what runs said, for those whose inputs are the same "
        "(default: TRAINYARD_CACHE_DIR, or `trainyard` in XDG_CACHE_HOME or ~/.cache)",
    )
    command.add_argument(
        "--no-cache", action="store_true", help="judge everything again, and cache nothing"
    )


def _rules_and_facts(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--policies",
        type=Path,
        metavar="DIR",
        help="the adopter's policies, which are code (default: `policies/` of the working directory)",
    )
    command.add_argument(
        "--catalog", type=Path, metavar="FILE", help="facts from `trainyard catalog refresh`"
    )


def _committed(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "-o",
        "--output",
        type=Path,
        default=Path("generated"),
        metavar="DIR",
        help="folder with one folder a cluster (default: generated/)",
    )
    command.add_argument(
        "--replace",
        action="append",
        default=[],
        metavar="JOB",
        help="forget the last run of a job, which was never pushed; repeatable, `'*'` for all",
    )


def _against(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--against",
        type=Path,
        metavar="DIR",
        help="committed output to compare with, like that of another branch (default: the output)",
    )


def _limited(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--limit",
        type=int,
        metavar="BYTES",
        help="print so much at most: changed clusters first, each whole, and a line for each of the others",
    )
    command.add_argument(
        "--link",
        default="",
        metavar="URL",
        help="where the whole report is, for what `--limit` leaves out",
    )


def _specs(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "paths",
        nargs="*",
        default=[SPECS],
        metavar="SPEC",
        help=f"spec files or folders; `-` is standard input (default: {SPECS}/)",
    )


def _init(commands: Commands) -> None:
    command = _command(
        commands,
        "init",
        "write the first spec of a cluster, from a few answers; what no option says is asked for",
    )
    command.add_argument(
        "file",
        nargs="?",
        type=Path,
        metavar="FILE",
        help="where to write it (default: specs/NAME.yaml); an existing file is never replaced",
    )
    for flag, metavar, help in (
        ("--name", "NAME", "the cluster's name (default: lab)"),
        ("--account", "ID", "the AWS account, 12 digits"),
        ("--region", "REGION", "the Region (default: us-west-2)"),
        (
            "--type",
            "TYPE",
            "the instance type, or an accelerator like H100, whose largest type is taken (default: g6e.48xlarge)",
        ),
        ("--zone", "ZONE", "the zone of the nodes (default: the first with the type)"),
        ("--nodes", "N", "how many nodes there may be (default: 2)"),
        (
            "--buy",
            "HOW",
            "how they are bought: on-demand, spot, reserved or block (default: on-demand)",
        ),
        ("--reservation", "ID", "the capacity reservation or Capacity Block"),
        ("--starts", "TIME", "when the Capacity Block starts"),
        ("--ends", "TIME", "when the Capacity Block ends"),
        ("--team", "NAMESPACE", "the team's namespace, which gets a queue"),
        ("--git-url", "URL", "the git repository that Flux reads"),
        ("--api", "CIDR", "addresses from which people reach the Kubernetes API"),
    ):
        command.add_argument(flag, metavar=metavar, help=help)
    command.add_argument(
        "-y", "--yes", action="store_true", help="ask nothing: defaults for all that no option says"
    )
    _rules_and_facts(command)
    command.set_defaults(fail_on="error")


def _compile(commands: Commands) -> None:
    command = _command(commands, "compile", "check the specs and write what they compile to")
    _specs(command)
    _judging(command)
    _committed(command)
    command.add_argument(
        "--check", action="store_true", help="write nothing; exit 3 if the output is not current"
    )


def _check(commands: Commands) -> None:
    command = _command(
        commands, "check", "check the specs, and what an edit means for what is committed"
    )
    _specs(command)
    _judging(command)
    _committed(command)
    _against(command)


def _plan(commands: Commands) -> None:
    command = _command(
        commands,
        "plan",
        "say what a merge will do, against a revision of git: by object and field, the worst first",
    )
    _specs(command)
    command.add_argument(
        "--base",
        metavar="REF",
        help="the revision to compare with (default: the merge base of HEAD and the remote's default branch)",
    )
    command.add_argument(
        "--format", default="text", metavar="FORMAT", help="text, markdown, json (default: text)"
    )
    command.add_argument(
        "--detailed-exitcode",
        action="store_true",
        help="0 without changes, 1 after an error, 2 with changes, as Terraform has it",
    )
    _committed(command)
    _rules_and_facts(command)
    command.set_defaults(fail_on="error")


def _report(commands: Commands) -> None:
    command = _command(
        commands, "report", "print a report of each cluster for reviewers, in Markdown or HTML"
    )
    _specs(command)
    _committed(command)
    command.add_argument(
        "--against",
        type=Path,
        metavar="DIR|PLATFORM",
        help="committed output to compare with, like that of another branch (default: the output), "
        "or a platform to go to, like parallelCluster",
    )
    command.add_argument(
        "--format",
        default="markdown",
        metavar="FORMAT",
        help="markdown, or html: one file that loads nothing (default: markdown)",
    )
    command.add_argument(
        "--why",
        metavar="WORDS",
        help="print what numbers of the report are made of, and why values are derived, by words of their names",
    )
    _limited(command)
    _rules_and_facts(command)
    command.set_defaults(fail_on="error")


def _simulate(commands: Commands) -> None:
    command = _command(
        commands,
        "simulate",
        "say what Kueue will do with all jobs at once: which fit and where, which wait and for whom",
    )
    _specs(command)
    command.add_argument(
        "--nodes",
        action="append",
        default=[],
        metavar="POOL=N",
        help="as if a pool had N nodes at most; repeatable",
    )
    command.add_argument(
        "--timeline",
        action="store_true",
        help="when each job starts and ends, what it waits for, and which nodes stand idle until then",
    )
    command.add_argument(
        "--start",
        metavar="TIME",
        help="with --timeline: when it begins, like 2026-12-01T11:30:00Z (default: the first Capacity Block)",
    )
    _tabled(command)
    _rules_and_facts(command)


def _fit(commands: Commands) -> None:
    command = _command(
        commands,
        "fit",
        "say whether the model of each job fits, how long it takes and what that costs, and what to change",
    )
    _specs(command)
    command.add_argument("--job", metavar="NAME", help="this job alone")
    command.add_argument(
        "--why",
        metavar="PART",
        help="the formula of a part, by its number or name, with its numbers and source",
    )
    _tabled(command)
    _rules_and_facts(command)


def _lint(commands: Commands) -> None:
    command = _command(
        commands, "lint", "judge files of Kubernetes, eksctl and CloudFormation that others wrote"
    )
    command.add_argument(
        "paths", nargs="+", metavar="PATH", help="files or folders; `-` is standard input"
    )
    _judging(command)


def _test(commands: Commands) -> None:
    command = _command(commands, "test", "run the examples of your own policies")
    command.add_argument(
        "policies",
        nargs="?",
        type=Path,
        default=Path("policies"),
        metavar="DIR",
        help="folder with policies (default: policies/)",
    )
    command.add_argument(
        "--format",
        action="append",
        metavar="FORMAT[=FILE]",
        dest="formats",
        help=f"{', '.join(FORMATS)}; into FILE if given (default: text)",
    )
    command.set_defaults(fail_on="error")


def _explain(commands: Commands) -> None:
    command = _command(
        commands, "explain", "explain a code, a key of the spec, or the derived values of an object"
    )
    command.add_argument(
        "subject",
        nargs="?",
        metavar="CODE|OBJECT",
        help="a code (EFA003), or job/NAME, pool/NAME, queue/NAME, cluster, Kind/[namespace/]name; "
        "or what a rule meets (rule, Finding, Work, …); without it all codes are listed",
    )
    command.add_argument(
        "field", nargs="?", default="", metavar="FIELD", help="only this field and what is below it"
    )
    command.add_argument(
        "--spec",
        nargs="?",
        const="",
        metavar="KEY",
        dest="key",
        help="a key of the spec language (jobs.checkpoint.every): type, default, bound, example; "
        "without KEY all are listed",
    )
    command.add_argument(
        "--platforms",
        action="store_true",
        help="which keys each platform takes, and what to write instead of one that it does not",
    )
    command.add_argument(
        "--in", dest="paths", action="append", metavar="SPEC", help=f"specs (default: {SPECS}/)"
    )
    _rules_and_facts(command)


def _fmt(commands: Commands) -> None:
    command = _command(
        commands, "fmt", "name the keys of specs that had another name before, or rename them"
    )
    command.add_argument(
        "paths",
        nargs="*",
        default=[SPECS],
        metavar="SPEC",
        help=f"spec files or folders (default: {SPECS}/)",
    )
    command.add_argument(
        "--fix", action="store_true", help="rename them in the files; comments and all else stay"
    )


def _schema(commands: Commands) -> None:
    command = _command(commands, "schema", "print the JSON Schema of the spec, for editors")
    command.add_argument(
        "kind",
        nargs="?",
        default="TrainingCluster",
        metavar="KIND",
        help="TrainingCluster, TrainingClusterBase, the kind of a document of its own, like TrainingJob, or `all`: "
        "one schema for a folder that holds several kinds",
    )


def _catalog(commands: Commands) -> None:
    command = _command(commands, "catalog", "list the facts, or refresh them from the EC2 API")
    command.add_argument(
        "words",
        nargs="*",
        metavar="WORD",
        help="`refresh`, `sources`, or what to list: a type, an accelerator, a zone, efa, block, amx",
    )
    command.add_argument(
        "--region", action="append", metavar="REGION", help="refresh: regions to ask"
    )
    command.add_argument(
        "-o",
        "--output",
        type=Path,
        default=Path("catalog.json"),
        metavar="FILE",
        help="refresh: where to write (default: catalog.json)",
    )
    command.add_argument(
        "--catalog", type=Path, metavar="FILE", help="facts from `trainyard catalog refresh`"
    )


def _drill(commands: Commands) -> None:
    command = _command(
        commands,
        "drill",
        "print a Job that writes a fatal Xid to the log of a test node, and what must follow",
    )
    _specs(command)
    command.add_argument(
        "--node",
        required=True,
        metavar="NODE",
        help="the node, by its name in Kubernetes; one without a job",
    )
    command.add_argument("--xid", type=int, metavar="N", help="the Xid (default: 79)")
    _rules_and_facts(command)
    command.set_defaults(fail_on="error")


def _one_spec(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "paths",
        nargs="*",
        default=[SPECS],
        metavar="SPEC",
        help=f"the spec of one cluster: a file or folder (default: {SPECS}/)",
    )


def _asking(command: argparse.ArgumentParser) -> None:
    """The options of commands that ask a cluster."""
    command.add_argument(
        "--context",
        metavar="NAME",
        help="the context of the kubeconfig (default: the current one); KUBECONFIG names the file",
    )


def _tabled(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--format", default="text", metavar="FORMAT", help="text, json (default: text)"
    )


def _status(commands: Commands) -> None:
    command = _command(
        commands,
        "status",
        "say how the jobs of a spec are in the cluster: state, place in the queue and why, attempts, cost so far",
    )
    _one_spec(command)
    _asking(command)
    _tabled(command)
    _committed(command)
    _rules_and_facts(command)


def _logs(commands: Commands) -> None:
    command = _command(
        commands, "logs", "print what the pods of a job log, each line with its rank"
    )
    command.add_argument("job", metavar="JOB", help="the job, by its name in the spec")
    _one_spec(command)
    command.add_argument(
        "--rank",
        type=int,
        metavar="N",
        help="only the node of this number, from 0 on (default: all)",
    )
    command.add_argument(
        "--previous", action="store_true", help="of the container before its last restart"
    )
    command.add_argument(
        "--follow", action="store_true", help="as it comes, until it ends; of one rank"
    )
    command.add_argument("--tail", type=int, metavar="N", help="the last N lines of each pod")
    _asking(command)
    _committed(command)
    _rules_and_facts(command)


def _drift(commands: Commands) -> None:
    command = _command(
        commands,
        "drift",
        "compare the committed output with the cluster, and change nothing; exit 5 where they differ",
    )
    _one_spec(command)
    _asking(command)
    _tabled(command)
    _committed(command)
    _rules_and_facts(command)


def _debug(commands: Commands) -> None:
    command = _command(
        commands,
        "debug",
        "make a pod like those of a job that only sleeps, and say how to get into it",
    )
    command.add_argument("job", metavar="JOB", help="the job, by its name in the spec")
    _one_spec(command)
    command.add_argument(
        "--gpus",
        type=int,
        default=0,
        metavar="N",
        help="with N GPUs, or Neuron devices, from the job's queue (default: none)",
    )
    command.add_argument(
        "--minutes", type=int, default=60, metavar="N", help="it ends after N minutes (default: 60)"
    )
    command.add_argument(
        "--print", action="store_true", dest="printed", help="print it, and make nothing"
    )
    _asking(command)
    _committed(command)
    _rules_and_facts(command)


def _completion(commands: Commands) -> None:
    command = _command(commands, "completion", "print the completion script of a shell")
    command.add_argument("shell", nargs="?", choices=SHELLS)
    command.add_argument(
        "--words",
        nargs="+",
        choices=WORDS,
        metavar="LIST",
        help=f"print words instead, as the scripts ask for them: {', '.join(WORDS)}",
    )
    command.add_argument(
        "--in",
        dest="paths",
        action="append",
        metavar="SPEC",
        help=f"specs whose objects are printed (default: {SPECS}/)",
    )
    _rules_and_facts(command)
