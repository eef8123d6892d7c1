"""Values that somebody was to fill in and nobody does: counts that the API refuses, ids of nothing.

A template of a tool is told apart by what stands beside it: a script or a page that names the tool and the value.
"""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import replace

from trainyard.disk import inputs
from trainyard.extensions.lint.charts import chart_of
from trainyard.extensions.lint.inputs import LintArtifact, LintObject
from trainyard.language.diagnostics import Diagnostic
from trainyard.language.diagnostics.diagnostic import warning
from trainyard.language.diagnostics.words import numbered
from trainyard.language.places import Route, Span
from trainyard.language.source.read import STDIN_SHOWN, read
from trainyard.output.body import Path, walk_values
from trainyard.output.manifest import placeholder
from trainyard.verify import BUILTIN
from trainyard.verify.fault import UNFILLED, unfilled

_IDS = {
    "eks.amazonaws.com/role-arn", "node.kubernetes.io/instance-type", "topology.kubernetes.io/zone",
    "id", "image", "role", "instanceProfile", "amiID", "snapshotID", "kmsKeyID", "instanceType", "availabilityZone",
    "iamRoleARN", "instanceRoleARN", "roleARN", "roleArn", "kmsKeyARN", "capacityReservationResourceGroupARN",
    "capacityReservationID", "capacityReservationId", "kmsKeyId", "securityGroupIds", "subnetId", "subnetIds",
    "volumeHandle", "fileSystemId", "dnsname", "mountname", "bucket", "bucketName",
    "BucketName", "CustomAmi", "FileSystemId", "KeyName", "KmsKeyId", "SnapshotId", "VolumeId", "VpcId",
    "CapacityReservationId", "CapacityReservationResourceGroupArn", "InstanceType", "InstanceProfile",
    "ExecutionRole", "InstanceRole", "SecurityGroupIds", "SecurityGroups", "SubnetId", "SubnetIds", "Subnets",
}  # fmt: skip
"""Keys whose value is an id, an ARN or a name of AWS, or the reference of an image: none of these has a `$`, `{` or
`<`, and most schemas do not say so. Sources: the drivers of FSx v1.9, EFS v2.3 and S3 v2.4; Karpenter v1.14; eksctl
0.229; EKS, IAM roles for service accounts; ParallelCluster 3.16.1; SageMaker, CreateCluster."""

_OF_AN_ID = re.compile(
    r"\b(?:ami|cr|dra|eni|fs|fsap|igw|lt|nat|rtb|sg|snap|subnet|vol|vpc)-[xX]{2,}\b|[xX]{4,}"
    r"|(?<![A-Za-z0-9])(?:REPLACE|CHANGE|INSERT|FILL)[-_ ]?(?:ME|THIS|WITH|IN|HERE)(?![a-z0-9])"
    r"|(?<![A-Za-z0-9])(?:TODO|FIXME|TBD|YOUR[-_][A-Z]\w*|your[-_][a-z]+(?:[-_][a-z]+)*)(?![A-Za-z0-9])"
)
_WHOLE = re.compile(
    r"<<?(?!none>|nil>|unknown>|unset>|any>)[A-Za-z][\w./-]*(?: [\w./-]+)*>>?|\w*PLACEHOLDER\w*|__[A-Z_]+__"
    r"|(?:REPLACE|CHANGE|INSERT|FILL)[-_ ]?(?:ME|THIS|WITH|IN|HERE)(?:[-_ ][\w-]+)*"
    r"|TODO|FIXME|TBD|YOUR[-_][A-Z]\w*"
)
"""What people write for a value that they leave to others: in an id, and for the whole of any value."""
_MAY_HAVE_ONE = re.compile(
    r"\$|\{\{|<[A-Za-z<]|PLACEHOLDER|__[A-Z]|REPLACE|CHANGE|INSERT|FILL|TODO|FIXME|TBD|YOUR|your[-_]|-[xX]{2}|[xX]{4}"
)

_TEXTS = {
    *("annotations", "description", "message", "data", "stringData", "binaryData", "values.yaml"),
    *(
        "args",
        "command",
        "entrypoint",
        "userData",
        "preBootstrapCommands",
        "overrideBootstrapCommand",
    ),
}
"""Keys of texts that people, shells and programs read, in which a mark may be right."""


def left(
    objects: Iterable[LintObject], alone: Iterable[LintArtifact]
) -> Iterator[tuple[LintObject | LintArtifact, Diagnostic]]:
    """The ids that were left to be filled in, each with what it was found in. Of counts the schemas know."""
    known: dict[str, bool] = {}
    items: list[LintObject | LintArtifact] = [*objects, *alone]
    for item in items:
        artifact = item.artifact
        text = item.text.file.text
        if artifact.path not in known:
            known[artifact.path] = _MAY_HAVE_ONE.search(text) is not None
        if not known[artifact.path] or not _is_read(item):
            continue
        for path, value in walk_values(artifact.body):
            if isinstance(value, str) and _is_left(path, value):
                at = Route((artifact.id, *path))
                fault = unfilled(path)
                yield item, warning(fault.code, fault.message, at, help=fault.help)


def _is_read(item: LintObject | LintArtifact) -> bool:
    """Whether what fills in values of an object would be known: some kinds have templates of their own."""
    if isinstance(item, LintObject):
        ref = item.manifest.ref
        return bool(BUILTIN.find(ref.api_version, ref.kind)) and ref.kind not in _OF_TEMPLATES
    return item.artifact.format in ("parallelcluster", "hyperpod")


_OF_TEMPLATES = ("CustomResourceDefinition", "HelmRelease", "ExternalSecret", "PrometheusRule")


def _is_left(path: Path, value: str) -> bool:
    """Whether a value is a mark where it cannot be right. In an environment it may be, but for the whole of a value."""
    names = [key for key in path if isinstance(key, str)]
    if not names:
        return False
    if value.startswith(("ENC[", "ref+", "{{resolve:", "resolve:")):
        return False  # SOPS, vals, and CloudFormation's dynamic references
    above = names[:-2] if "/" in names[-1] else names  # an annotation of EKS is no text
    if names[-1] in _IDS and _TEXTS.isdisjoint(above):
        return placeholder(value) or _OF_AN_ID.search(value) is not None
    if not _TEXTS.isdisjoint(names):
        return False
    is_variable = len(path) >= _OF_ENV and path[-_OF_ENV] == "env"
    return _WHOLE.fullmatch(value.strip()) is not None and not (
        is_variable and "PLACEHOLDER" in value
    )


_OF_ENV = 3  # the list, an item of it, and its value


_TOOL = re.compile(
    r"\b(?:envsubst|sed|templatefile|gomplate|j2|jinja2?|ansible|yq|substitute|postBuild|render\w*|kustomization)\b"
    r"|\bperl -|\breplace\(|\bTemplate\("
)
_SCRIPTS = (
    ".sh",
    ".bash",
    ".tf",
    ".py",
    ".mk",
    "Makefile",
    "makefile",
    "justfile",
    "Taskfile.yml",
    "Taskfile.yaml",
)
_PAGES = (".md", ".rst", ".adoc", "README")
_PLAIN = (".yaml", ".yml", ".json")
_VARIABLE = re.compile(r"\$[{(]?\s*(?P<name>\w+)|\{\{-?\s*(?P<path>[^}]*)")
_OF_HELM = re.compile(r"[$.]*\.(?:Values|Release|Chart)\b")


class Filling:
    """What fills in the values of files: Flux, a chart, and what scripts and pages beside them say.

    ``given`` are the paths of a run: beside a file is what lies in its folder, and above it up to the repository or to
    the folder that was given.
    """

    def __init__(self, objects: Iterable[LintObject], given: Iterable[str]) -> None:
        # One of its Kustomizations may fill them in, which may lie elsewhere.
        self._by_flux = any(_FLUX in item.manifest.ref.api_version for item in objects)
        self._roots = {os.path.abspath(path) for path in given if inputs.is_folder(path)}
        self._texts: dict[str, list[tuple[str, bool]]] = {}
        self._files: dict[str, bool] = {}

    def fills(self, file: str, written: str) -> bool:
        """Whether all marks of a value are known to be filled in by a tool."""
        if self._is_file_of_a_tool(file):
            return True
        variables = list(_VARIABLE.finditer(written))
        rest = _VARIABLE.sub("", written)
        marks = [found.group() for kind in (_WHOLE, _OF_AN_ID) for found in kind.finditer(rest)]
        if not variables and not marks:
            return self._is_named(file, written)  # a form of one format alone
        return all(self._is_named(file, mark) for mark in marks) and all(
            self._fills_variable(file, variable) for variable in variables
        )

    def _fills_variable(self, file: str, variable: re.Match[str]) -> bool:
        path = variable["path"]
        if path is not None:
            return _OF_HELM.match(path) is None  # the template of a tool that is not known
        is_of_flux = self._by_flux and variable.group().startswith("${")
        return is_of_flux or self._is_named(file, variable["name"])

    def _is_file_of_a_tool(self, file: str) -> bool:
        """Whether another tool wrote a file or reads it, by its name or by what is said of it."""
        if file not in self._files:
            is_other = file == STDIN_SHOWN or not file.lower().endswith(_PLAIN)
            self._files[file] = is_other or chart_of(file) is not None or self._is_read(file)
        return self._files[file]

    def _is_read(self, file: str) -> bool:
        name = _word(os.path.basename(file))
        for text, is_script in self._beside(file):
            if is_script and name.search(text):
                return True
            if any(_TOOL.search(line) and name.search(line) for line in text.splitlines()):
                return True
        return False

    def _is_named(self, file: str, mark: str) -> bool:
        """Whether a text beside a file names a tool, and what it fills in."""
        word = _word(mark)
        return any(word.search(text) for text, _ in self._beside(file))

    def _beside(self, file: str) -> Iterator[tuple[str, bool]]:
        for folder in self._folders(os.path.dirname(os.path.abspath(file))):
            if folder not in self._texts:
                self._texts[folder] = list(_texts_of_tools(folder))
            yield from self._texts[folder]

    def _folders(self, folder: str) -> list[str]:
        """The folder, and those above it that belong to the same repository."""
        above = [folder]
        while not inputs.exists(os.path.join(folder, ".git")):
            outer = os.path.dirname(folder)
            if outer == folder:
                return [each for each in above if self._is_given(each)] or above[:1]
            folder = outer
            above.append(folder)
        return above

    def _is_given(self, folder: str) -> bool:
        return any(folder == root or folder.startswith(f"{root}{os.sep}") for root in self._roots)


_FLUX = ".toolkit.fluxcd.io/"


def _word(name: str) -> re.Pattern[str]:
    return re.compile(rf"(?<!\w){re.escape(name)}(?!\w)")


def _texts_of_tools(folder: str) -> Iterator[tuple[str, bool]]:
    """The scripts and pages of a folder that name a tool that fills in values, and whether each is a script."""
    try:
        entries = inputs.entries(folder)
    except OSError:
        return
    for entry in entries:
        is_script = entry.name.endswith(_SCRIPTS)
        if not is_script and not entry.name.endswith(_PAGES):
            continue
        file, _ = read(os.path.join(folder, entry.name))
        if file is not None and _TOOL.search(file.text):
            yield file.text, is_script


def once(findings: Iterable[Diagnostic], filling: Filling) -> list[Diagnostic]:
    """One finding for each mark of a file, and none for what a tool fills in."""
    kept: list[Diagnostic] = []
    firsts: dict[tuple[str, str], int] = {}
    more: Counter[int] = Counter()
    for finding in findings:
        if finding.code != UNFILLED or finding.span is None:
            kept.append(finding)
            continue
        file = finding.span.file.name
        written = _written(finding.span)
        first = firsts.get((file, written))
        if first is not None:
            more[first] += 1
        elif not filling.fills(file, written):
            firsts[file, written] = len(kept)
            kept.append(finding)
    for index, count in more.items():
        note = f"{numbered(count, 'more value of this file is', 'more values of this file are')} the same"
        kept[index] = replace(kept[index], notes=(note,))
    return kept


def _written(span: Span) -> str:
    """A value of one line as its file has it, without quotes."""
    line = span.file.line(span.line)
    return line[span.column - 1 : span.end_column - 1].strip(" \"'")
