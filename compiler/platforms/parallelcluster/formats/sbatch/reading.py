"""A batch script read back: the job that it is, by its directives, its variables, and what ``srun`` starts."""

from __future__ import annotations

import math
import re
import shlex
from collections.abc import Iterable, Iterator, Mapping

from compiler.core.jobs.plan import SPEC_NAME
from compiler.core.pods.plan import GPU, EnvVar
from compiler.output.artifact import Artifact
from compiler.places import Route
from compiler.plan import PlanNode
from compiler.plan.units import Quantity
from compiler.platforms.parallelcluster.batch.plan import BatchJob, BindMount, StoredValue
from compiler.platforms.parallelcluster.formats.sbatch.grammar import (
    Directive,
    Statement,
    assignment,
    directives,
    documents,
    statements,
    unquoted,
)
from compiler.platforms.parallelcluster.partitions.plan import PARTITION

_STARTERS = ("srun",)
_OPTIONS_OF_SRUN = {
    "--container-image": "image",
    "--container-mounts": "mounts",
    "--container-workdir": "working_dir",
}
_UNITS = {"k": 1024, "m": 1024**2, "g": 1024**3, "t": 1024**4}
# Options of srun that have their value as the next word.
_WITH_VALUE = re.compile(r"-[ACDGJKLMNSTWcdeghijmnopqrtwx]\Z")
_SECRET = re.compile(r"get-secret-value --secret-id (\S+)")
_KEY = re.compile(r"sys\.argv\[1\]\]\)'\s+(\S+?)\)?$")
_COMMENT = re.compile(r"trainyard ([^/\s]+)/([^/\s]+)/(\S+) in ([^\s,]+)(?:, run ([0-9]+))?")
_RENDEZVOUS = ("MASTER_ADDR", "MASTER_PORT", "PET_")
_END = ("||", "&&", ";", "&", "|")


def nodes(artifact: Artifact, *, closed: bool) -> Iterator[PlanNode]:
    """The job of a script."""
    text = artifact.content
    options: dict[str, Directive] = {}
    for directive in directives(text):
        options[directive.name] = directive  # the last one counts
    if not options and not closed:
        return
    yield _Script(artifact, text, options).job()


class _Script:
    """A script, on its way to the job that it is."""

    def __init__(self, artifact: Artifact, text: str, options: Mapping[str, Directive]) -> None:
        self._at = Route((artifact.id,))
        self._options = options
        self._lines = text.split("\n")
        self._statements = list(statements(text))
        self._files = dict(documents(text))
        self._origins: dict[str, Route] = {}

    def job(self) -> BatchJob:
        env, rendezvous, stored = self._variables()
        srun = self._srun()
        options, words = _split(srun.text) if srun else ({}, [])
        if srun is not None:
            self._place_words(srun)
        mounts, files = self._mounts(options.get("container-mounts", ""))
        comment = self._value("comment", "name") or ""
        ours = _COMMENT.search(comment)
        partitions = tuple(filter(None, (self._value("partition", "partitions") or "").split(",")))
        requests = self._requests()
        nodes = self._count("nodes", "nodes")
        image = options.get("container-image") or self._value("container-image", "image")
        name = self._value("job-name", "name") or ""
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
            nodes=1 if nodes is None and "nodes" not in self._options else nodes,
            image=_registry(image) if image else None,
            command=tuple(words),
            labels={SPEC_NAME: ours[3]} if ours else {},
            env=tuple(env),
            requests=requests,
            limits=requests,
            selector={PARTITION: partitions[0]} if partitions else {},
            deadline=_seconds(self._value("time", "deadline")),
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
            unread=frozenset({"nodes"} if nodes is None and "nodes" in self._options else ()),
            origins=self._origins,
        )

    def _place(self, option: str, field: str) -> None:
        directive = self._options.get(option)
        if directive is None:
            return
        self._origins.setdefault(field, self._at / directive.line)
        if field == "requests":
            self._origins.setdefault("limits", self._at / directive.line)

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
        return int(most) if most.isdigit() and len(most) < 7 else None

    def _requests(self) -> dict[str, Quantity]:
        """What one node of the job asks for, as far as it is said."""
        found: dict[str, Quantity] = {}
        tasks = self._count("ntasks-per-node", "requests") or 1
        cpus = self._count("cpus-per-task", "requests")
        if cpus is not None:
            found["cpu"] = Quantity.of(cpus * tasks)
        memory = _bytes(self._value("mem", "requests"))
        if memory:
            found["memory"] = Quantity.of(memory)
        gpus = _gpus(self._value("gres", "requests")) or _gpus(
            self._value("gpus-per-node", "requests"), named=False
        )
        if gpus:
            found[GPU] = Quantity.of(gpus)
        return found

    def _variables(self) -> tuple[list[EnvVar], list[tuple[str, str]], list[StoredValue]]:
        env, rendezvous, stored = [], [], []
        exported = self._exported()
        for statement in self._statements:
            found = assignment(statement)
            if found is None:
                continue
            name, written = found
            secret = _SECRET.search(written)
            if secret is not None:
                key = _KEY.search(written)
                stored.append(
                    StoredValue(
                        name=name,
                        secret=shlex.split(secret[1])[0],
                        key=shlex.split(key[1])[0] if key else "",
                    )
                )
                self._origins[f"env.{name}"] = self._at / statement.line
                continue
            is_exported = statement.text.startswith("export ") or name in exported
            if not is_exported:
                continue
            self._origins[f"env.{name}"] = self._at / statement.line
            if name in exported and name.startswith(_RENDEZVOUS):
                rendezvous.append((name, written[1:-1]))
            else:
                env.append(EnvVar(name, unquoted(written)))
        return env, rendezvous, stored

    def _exported(self) -> set[str]:
        """Variables that a statement exports by their names alone."""
        names: set[str] = set()
        for statement in self._statements:
            words = statement.text.split()
            if words[0] == "export":
                names.update(word for word in words[1:] if "=" not in word)
        return names

    def _srun(self) -> Statement | None:
        """The last command that starts the program on all nodes."""
        found = None
        for statement in self._statements:
            first = statement.text.split(" ", 1)[0]
            if first in _STARTERS:
                found = statement
        return found

    def _retries(self) -> int | None:
        for statement in self._statements:
            found = assignment(statement)
            if found is not None and found[0] == "retries" and found[1].isdigit():
                return int(found[1])
        return None

    def _mounts(self, text: str) -> tuple[list[BindMount], dict[str, str]]:
        """Folders of nodes, and files that the script writes."""
        mounts, files = [], {}
        for mount in filter(None, text.split(",")):
            source, _, rest = mount.partition(":")
            path, _, flags = rest.partition(":")
            written = self._files.get(source.replace("$(state)", "$state"))
            if written is not None:
                files[path or source] = written
            else:
                mounts.append(BindMount(source, path or source, "ro" in flags.split("+")))
        return mounts, files


def _processes(rendezvous: Iterable[tuple[str, str]]) -> int | None:
    """The processes of each node, where torchrun is told so."""
    for name, value in rendezvous:
        if name == "PET_NPROC_PER_NODE" and value.isdigit():
            return int(value)
    return None


def _split(text: str) -> tuple[dict[str, str], list[str]]:
    """The options of ``srun`` by name, and the words of the program. A variable stays as Kubernetes writes it."""
    try:
        words = shlex.split(_as_kubernetes(text))[1:]
    except ValueError:
        return {}, []
    options: dict[str, str] = {}
    position = 0
    while position < len(words) and words[position].startswith("-"):
        word = words[position]
        position += 1
        if word.startswith("--"):
            name, _, value = word[2:].partition("=")
            options[name] = value
        elif _WITH_VALUE.match(word):
            position += 1
    program: list[str] = []
    for word in words[position:]:
        if word in _END:
            break
        program.append(word)
    return options, program


_SINGLE_QUOTED = re.compile(r"('[^']*')")
_VARIABLE = re.compile(r"\$\{?([A-Za-z_][A-Za-z0-9_]*)\}?")


def _as_kubernetes(text: str) -> str:
    """``$NAME``, which bash replaces, as ``$(NAME)``: so commands of all platforms are read alike."""
    parts = _SINGLE_QUOTED.split(text)
    parts[::2] = [_VARIABLE.sub(r"$(\1)", part) for part in parts[::2]]
    return "".join(parts)


def _registry(image: str) -> str:
    """An image of enroot as registries call it."""
    whole = image.removeprefix("docker://").replace("#", "/", 1)
    return whole.replace(":sha256:", "@sha256:")


def _bytes(value: str | None) -> int:
    """A size of Slurm, in MiB where it has no unit; 0 is all memory, and so unknown."""
    if not value:
        return 0
    found = re.fullmatch(r"([0-9]{1,9})([KMGTkmgt]?)[bB]?", value)
    if found is None:
        return 0
    return int(found[1]) * _UNITS[(found[2] or "m").lower()]


def _gpus(value: str | None, *, named: bool = True) -> int:
    """The GPUs of ``gpu:8``, ``gpu:h100:8`` or, not ``named``, ``8``."""
    if not value:
        return 0
    for part in value.split(","):
        words = part.split(":")
        if named and words[0] != "gpu":
            continue
        count = words[-1]
        if count.isdigit() and len(count) < 6:
            return int(count)
        return 1 if named else 0
    return 0


def _seconds(value: str | None) -> int | None:
    """A time limit: minutes, minutes:seconds, hours:minutes:seconds, days-hours[:minutes[:seconds]]."""
    if value is None:
        return None
    found = re.fullmatch(r"(?:(\d{1,5})-)?(\d{1,7})(?::(\d{1,2}))?(?::(\d{1,2}))?", value)
    if found is None:
        return None
    days, first, second, third = (int(part) if part else 0 for part in found.groups())
    if found[1] is not None:
        return days * 86400 + first * 3600 + second * 60 + third
    if found[4] is not None:
        return first * 3600 + second * 60 + third
    if found[3] is not None:
        return first * 60 + second
    return math.ceil(first * 60)


def _signal(value: str | None) -> int | None:
    if value is None:
        return None
    seconds = value.partition("@")[2]
    return int(seconds) if seconds.isdigit() and len(seconds) < 7 else None
