"""A batch script read back: the job that it is, by its directives, its variables, and what ``srun`` starts."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Set
from pathlib import PurePosixPath

from trainyard.core.jobs.plan import SPEC_NAME, EarlierCommand
from trainyard.core.pods.plan import GPU, EnvVar
from trainyard.extensions.parallelcluster.batch.plan import BatchJob, BindMount, StoredValue
from trainyard.extensions.parallelcluster.formats.sbatch.grammar import (
    OF_SEVERAL,
    Directive,
    Statement,
    Written,
    assignments,
    before_command,
    directives,
    documents,
    statements,
    unquoted,
)
from trainyard.extensions.parallelcluster.formats.sbatch.steps import (
    NO_VALUES,
    Step,
    Values,
    started,
)
from trainyard.extensions.parallelcluster.partitions.plan import PARTITION
from trainyard.language.places import Route
from trainyard.language.shellwords import split
from trainyard.language.units import Quantity, count
from trainyard.output.artifact import Artifact
from trainyard.plan import PlanItem

# Amounts and times as options of Slurm write them (Slurm 25.05, sbatch: --mem, --gres, --gpus, --time).

_UNITS = {"": 1, "k": 1024, "m": 1024**2, "g": 1024**3, "t": 1024**4}
_DIGITS = 18
"""No machine has an amount of more digits: what is behind them is left out, and it is too much still."""


def bytes_of(value: str | None) -> int:
    """A size, in MiB where it has no unit; 0 is all memory, and so unknown."""
    if not value:
        return 0
    found = re.fullmatch(r"([0-9]+)([KMGTkmgt]?)[bB]?", value)
    if found is None:
        return 0
    return int(found[1][:_DIGITS]) * _UNITS[(found[2] or "m").lower()]


def gpus_of(value: str | None, *, named: bool = True) -> int:
    """The GPUs of ``gpu:8``, ``gpu:h100:8`` or, not ``named``, ``8``; ``1k`` is 1,024 (sbatch, --gres)."""
    if not value:
        return 0
    for part in value.split(","):
        words = part.split(":")
        if named and words[0] != "gpu":
            continue
        count = re.fullmatch(r"([0-9]+)([KMGTkmgt]?)", words[-1])
        if count is not None:
            return int(count[1][:_DIGITS]) * _UNITS[count[2].lower()]
        return 1 if named else 0
    return 0


def _number(digits: str | None) -> int:
    """A number of any length, as far as eight digits: so many minutes are 190 years."""
    return int((digits or "").lstrip("0")[:8] or 0)


def seconds_of(value: str | None) -> int | None:
    """A time limit: minutes, minutes:seconds, hours:minutes:seconds, days-hours[:minutes[:seconds]]."""
    if value is None:
        return None
    found = re.fullmatch(r"(?:(\d+)-)?(\d+)(?::(\d+))?(?::(\d+))?", value)
    if found is None:
        return None
    days, first, second, third = map(_number, found.groups())
    if found[1] is not None:
        return days * 86400 + first * 3600 + second * 60 + third
    if found[4] is not None:
        return first * 3600 + second * 60 + third
    return first * 60 + second


_OPTIONS_OF_SRUN = {
    "--container-image": "image",
    "--container-mounts": "mounts",
    "--container-workdir": "working_dir",
}
_OF_GPUS = f"limits.{GPU}"
_AMOUNTS = ("gres", "gpus", "gpus-per-node", "gpus-per-task", "mem", "cpus-per-task")
_OTHER_AMOUNTS = ("gpus", "gpus-per-task", "gpus-per-socket", "tres-per-task")
_KEEPING = frozenset(("container-name", "container-save", "container-mount-home"))
"""Options of pyxis by which a container outlives its task, or sees more than is mounted (NVIDIA/pyxis, usage)."""
_SECRET = re.compile(r"get-secret-value --secret-id (\S+)")
_KEY = re.compile(r"sys\.argv\[1\]\]\)'\s+(\S+?)\)?$")
_COMMENT = re.compile(r"trainyard ([^/\s]+)/([^/\s]+)/(\S+) in ([^\s,]+)(?:, run ([0-9]+))?")
_SINGLE_QUOTED = re.compile(r"\bsrun\b.*\s-\w*c\s+'", re.DOTALL)
_COUNTS = frozenset({"ntasks", "nodes", "ntasks-per-gpu", "ntasks-per-socket", "ntasks-per-core"})
_OF_A_HOST = ("MASTER_ADDR", "MASTER_PORT")
_RENDEZVOUS = (*_OF_A_HOST, "PET_")


def nodes(artifact: Artifact, *, closed: bool) -> Iterator[PlanItem]:
    """The job of a script."""
    text = artifact.content
    options: dict[str, Directive] = {}
    several = False
    for directive in directives(text):
        if directive.name in OF_SEVERAL:
            several = True  # the first part runs the script
        elif not several:
            options[directive.name] = directive  # the last one counts
    if not options and not closed:
        return
    yield _Script(artifact, text, options, several=several).job()


class _Script:
    """A script, on its way to the job that it is."""

    def __init__(
        self, artifact: Artifact, text: str, options: Mapping[str, Directive], *, several: bool
    ) -> None:
        self._several = several
        self._at = Route((artifact.id,))
        self._path = artifact.path
        self._text = text
        self._options = options
        self._lines = text.split("\n")
        self._statements = list(statements(text))
        self._files = {each.file: each for each in documents(text)}
        self._origins: dict[str, Route] = {}

    def job(self) -> BatchJob:
        env, rendezvous, stored = self._variables()
        comment = self._value("comment", "name") or ""
        ours = _COMMENT.search(comment)
        step = started(self._statements, NO_VALUES if ours else Values(self._statements))
        options: Mapping[str, str] = step.options if step else {}
        if step is not None:
            self._place_words(step.statement)
            env += self._beside(step.statement)
            env += self._given("export", options, step.statement.line)
        mounted = options.get("container-mounts") or self._value("container-mounts", "mounts") or ""
        mounts, files = self._mounts(mounted)
        partitions = tuple(filter(None, (self._value("partition", "partitions") or "").split(",")))
        requests = self._requests()
        nodes = self._count("nodes", "nodes")
        image = options.get("container-image") or self._value("container-image", "image")
        unread = self._unread(step, nodes, requests)
        if image and "$(" in image:
            image = None
            unread.add("image")
        name = self._name()
        self._place("requeue", "retries")
        return BatchJob(
            at=self._at,
            name=name,
            namespace=ours[2] if ours else "",
            source_name=ours[3] if ours else name,
            rerun=int(ours[5] or 0) if ours else 0,
            kind="BatchJob",
            queue=ours[4] if ours else self._value("account", "queue"),
            account=self._value("account", "queue"),
            qos=self._value("qos", "priority"),
            priority=self._value("qos", "priority"),
            processes=_processes(rendezvous),
            tasks=self._tasks(step),
            single_quoted=step is not None
            and _SINGLE_QUOTED.search(step.statement.text) is not None,
            nodes=1 if nodes is None and "nodes" not in unread else nodes,
            image=_registry(image) if image else None,
            command=step.words if step else (),
            labels={SPEC_NAME: ours[3]} if ours else {},
            env=tuple(env),
            requests=requests,
            limits=requests,
            selector={PARTITION: partitions[0]} if partitions else {},
            deadline=seconds_of(self._value("time", "deadline")),
            partitions=partitions,
            exclusive="exclusive" in self._options,
            requeue="requeue" in self._options,
            retries=self._retries(),
            stop_signal=_signal(self._value("signal", "stop_signal")),
            rendezvous=tuple(rendezvous),
            stored=tuple(stored),
            mounts=tuple(mounts),
            files=files,
            working_dir=options.get("container-workdir") or options.get("chdir") or "",
            output=(self._value("output", "name") or "").removesuffix("/%x-%j.out"),
            comment=comment,
            before=tuple(self._before(step)),
            unread=frozenset(unread),
            origins=self._origins,
        )

    def _name(self) -> str:
        """The name of the job. Without one it is that of the script (Slurm documentation, sbatch ``--job-name``)."""
        if "job-name" in self._options:
            return self._value("job-name", "name") or ""
        return PurePosixPath(self._path).name

    def _unread(
        self, step: Step | None, nodes: int | None, asked: Mapping[str, Quantity]
    ) -> set[str]:
        """The fields that are said, and cannot be read."""
        unread: set[str] = set()
        said = {"nodes", "ntasks"} & self._options.keys()
        if self._several or (nodes is None and said):
            unread.add("nodes")
        amounts = [each for each in _AMOUNTS if each in self._options]
        if self._several or any("$" in self._options[each].value for each in amounts):
            unread.add("requests")
        if GPU not in asked and any(each in self._options for each in _OTHER_AMOUNTS):
            unread.add("requests")
        if step is not None and (not step.known or not _KEEPING.isdisjoint(step.options)):
            unread |= {"image", "mounts"}
        if step is not None and "$(" in step.options.get("container-mounts", ""):
            unread.add("mounts")
        return unread

    def _before(self, step: Step | None) -> Iterator[EarlierCommand]:
        """What the script does before it starts the program."""
        last = step.statement.line if step else len(self._lines)
        for statement in self._statements:
            if statement.line >= last:
                return
            if not assignments(statement) or statement.inner:
                yield EarlierCommand(("bash", "-c", statement.text), self._at / statement.line)

    def _given(self, option: str, options: Mapping[str, str], line: int) -> list[EnvVar]:
        """The variables of ``--export=ALL,NAME=value`` (Slurm documentation, sbatch)."""
        found = []
        for part in options.get(option, "").split(","):
            name, equals, value = part.partition("=")
            if equals and name.isidentifier():
                self._origins.setdefault(f"env.{name}", self._at / line)
                found.append(EnvVar(name, None if "$" in value else value))
        return found

    def _beside(self, statement: Statement) -> list[EnvVar]:
        """The variables that stand before the command that starts the program."""
        found = []
        for name, written in before_command(statement):
            self._origins[f"env.{name}"] = self._at / statement.line
            found.append(EnvVar(name, None if "$" in written else unquoted(written)))
        return found

    def _place(self, option: str, field: str) -> None:
        directive = self._options.get(option)
        if directive is None:
            return
        self._origins.setdefault(field, self._at / directive.line)
        if field.startswith("limits."):
            self._origins.setdefault("limits", self._at / directive.line)
            self._origins.setdefault("requests", self._at / directive.line)

    def _place_words(self, srun: Statement) -> None:
        """The lines of what ``srun`` says: each option may stand on its own."""
        places = dict.fromkeys(("command", "args", "image", "mounts", "working_dir"), srun.line)
        program = None
        for number in srun.lines:
            line = self._lines[number].strip()
            for option, field in _OPTIONS_OF_SRUN.items():
                if option in line:
                    places[field] = number
            if number > srun.line and program is None and not line.startswith("-"):
                program = number
        if program is not None:
            places["command"] = places["args"] = program
        for field, number in places.items():
            self._origins[field] = self._at / number

    def _value(self, option: str, field: str) -> str | None:
        """The value of an option; ``None`` where it is not said, or is known only when the script runs."""
        self._place(option, field)
        directive = self._options.get(option)
        if directive is None or "$" in directive.value:
            return None
        return directive.value

    def _count(self, option: str, field: str) -> int | None:
        value = self._value(option, field)
        if value is None:
            return None
        most = value.rpartition("-")[2]
        return int(most) if most.isdecimal() and len(most) < 7 else None

    def _requests(self) -> dict[str, Quantity]:
        """What one node of the job asks for, as far as it is said."""
        found: dict[str, Quantity] = {}
        tasks = self._count("ntasks-per-node", "processes") or 1
        cpus = self._count("cpus-per-task", "limits.cpu")
        if cpus is not None:
            found["cpu"] = Quantity.of(cpus * tasks)
        memory = bytes_of(self._value("mem", "limits.memory"))
        if memory:
            found["memory"] = Quantity.of(memory)
        gpus = self._gpus(tasks)
        if gpus:
            found[GPU] = Quantity.of(gpus)
        return found

    def _tasks(self, step: Step | None) -> int | None:
        """How often srun starts the program on each node; ``None`` where it counts by other options."""
        if step is None or not step.known or not _COUNTS.isdisjoint(step.options):
            return None
        own = step.options.get("ntasks-per-node")
        if own is None:
            return self._count("ntasks-per-node", "tasks")
        self._origins["tasks"] = self._at / step.statement.line
        return count(own)

    def _gpus(self, tasks: int) -> int:
        """The GPUs of each node."""
        of_node = gpus_of(self._value("gres", _OF_GPUS)) or gpus_of(
            self._value("gpus-per-node", _OF_GPUS), named=False
        )
        if of_node:
            return of_node
        total = gpus_of(self._value("gpus", _OF_GPUS), named=False)
        nodes = self._count("nodes", "nodes") or 0
        if total and nodes and total % nodes == 0:
            return total // nodes
        of_task = gpus_of(self._value("gpus-per-task", _OF_GPUS), named=False)
        return of_task * tasks if "ntasks-per-node" in self._options else 0

    def _variables(self) -> tuple[list[EnvVar], list[tuple[str, str]], list[StoredValue]]:
        env, rendezvous, stored = [], [], []
        exported = self._exported()
        directive = self._options.get("export")
        if directive is not None:
            env += self._given("export", {"export": directive.value}, directive.line)
        set_here = [
            (statement, *each) for statement in self._statements for each in assignments(statement)
        ]
        for statement, name, written in set_here:
            secret = _SECRET.search(written)
            if secret is not None:
                key = _KEY.search(written)
                stored.append(
                    StoredValue(
                        name=name, secret=split(secret[1])[0], key=split(key[1])[0] if key else ""
                    )
                )
                self._origins[f"env.{name}"] = self._at / statement.line
                continue
            is_exported = statement.text.startswith("export ") or name in exported
            if not is_exported or statement.inner:
                continue
            self._origins[f"env.{name}"] = self._at / statement.line
            if self._is_rendezvous(name, written, exported, statement.line):
                rendezvous.append((name, written.strip('"')))
            else:
                env.append(EnvVar(name, unquoted(written)))
        return env, rendezvous, stored

    def _is_rendezvous(self, name: str, written: str, exported: Set[str], line: int) -> bool:
        """Whether a variable is for the processes to find each other, and not one that the program is given: its value
        is worked out, or the script takes it."""
        if not name.startswith(_RENDEZVOUS):
            return False
        if "$" in written or self._reads(name, line):
            return True
        return name in exported and name not in _OF_A_HOST

    def _reads(self, variable: str, line: int) -> bool:
        """Whether the script itself takes the value that a variable has from a line on, so that it is not for the
        program alone."""
        below = "\n".join(self._text.splitlines()[line:])
        return re.search(rf"\$\{{?{variable}\b", below) is not None

    def _exported(self) -> set[str]:
        """Variables that a statement exports by their names alone."""
        names: set[str] = set()
        for statement in self._statements:
            words = statement.text.split()
            if words[0] == "export":
                names.update(word for word in words[1:] if "=" not in word)
        return names

    def _retries(self) -> int | None:
        for statement in self._statements:
            for name, written in assignments(statement):
                if name == "retries" and written.isdecimal():
                    return int(written)
        return None

    def _mounts(self, text: str) -> tuple[list[BindMount], dict[str, str]]:
        """Folders of nodes, and files that the script writes, by the paths at which its program has them."""
        mounts, files = [], {}
        for written in self._files.values():
            if "$" not in written.file:
                files[written.file] = self._file(written.file, written)
        for mount in filter(None, text.split(",")):
            source, _, rest = mount.partition(":")
            path, _, flags = rest.partition(":")
            document = self._files.get(source.replace("$(state)", "$state"))
            if document is not None:
                files[path or source] = self._file(path or source, document)
            else:
                mounts.append(BindMount(source, path or source, "ro" in flags.split("+")))
        return mounts, files

    def _file(self, path: str, written: Written) -> str:
        self._origins[f"files.{path}"] = self._at / written.line
        return written.text


def _processes(rendezvous: Iterable[tuple[str, str]]) -> int | None:
    """The processes of each node, where torchrun is told so."""
    for name, value in rendezvous:
        if name == "PET_NPROC_PER_NODE" and value.isdecimal():
            return int(value)
    return None


def _registry(image: str) -> str:
    """An image of enroot as registries call it."""
    whole = image.removeprefix("docker://").replace("#", "/", 1)
    return whole.replace(":sha256:", "@sha256:")


def _signal(value: str | None) -> int | None:
    if value is None:
        return None
    seconds = value.partition("@")[2]
    return int(seconds) if seconds.isdecimal() and len(seconds) < 7 else None
