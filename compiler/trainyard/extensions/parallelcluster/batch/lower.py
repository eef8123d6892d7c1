"""Lower: a batch script for each job."""

from __future__ import annotations

import math
import re
import shlex
from collections.abc import Iterator, Sequence, Set

from trainyard.core.pods.plan import GPU
from trainyard.extensions.parallelcluster.batch import watching
from trainyard.extensions.parallelcluster.batch.plan import BatchJob, StoredValue
from trainyard.language.places import Route
from trainyard.output import Artifact
from trainyard.output.artifact import Places
from trainyard.plan import Plan

# The batch script of a job: its lines, and the field of the job that each came from.
#
# Sources: Slurm documentation, sbatch, srun and scontrol (ParallelCluster 3.16.1 has Slurm 25.05); NVIDIA pyxis, usage.

STATE = "$HOME/.trainyard/$SLURM_JOB_ID"
"""A folder of the shared home of whoever submits: the files of the job, and when it first began."""
_MIB = 1024**2
_REFERENCE = re.compile(r"\$\$|\$\(([A-Za-z_][A-Za-z0-9_]*)\)")
Line = tuple[str, str]
"""A line, and the name of the field that it came from; "" is the job itself."""


def lines(job: BatchJob) -> Iterator[Line]:
    """The whole script."""
    yield "#!/bin/bash", ""
    yield from _directives(job)
    yield "", ""
    yield "set -euo pipefail", ""
    yield from _start(job)
    yield from _variables(job)
    yield from _files(job)
    yield "", ""
    yield from _run(job)


def _directives(job: BatchJob) -> Iterator[Line]:
    # ParallelCluster tells Slurm of NVIDIA's GPUs alone: no node has a gres of Neuron devices.
    gpus = job.requests.get(GPU)
    options: list[tuple[str, object, str]] = [
        ("job-name", job.name, "name"),
        ("comment", shlex.quote(job.comment), "name"),
        ("partition", ",".join(job.partitions), "partitions"),
        ("account", job.account, "queue"),
        ("qos", job.qos, "priority"),
        ("nodes", job.nodes, "nodes"),
        ("ntasks-per-node", 1, "processes"),
        ("cpus-per-task", job.requests["cpu"].value, "requests.cpu"),
        ("mem", f"{job.requests['memory'].value // _MIB}M", "requests.memory"),
        ("gres", f"gpu:{gpus.value}" if gpus else None, "requests.accelerators"),
        ("time", _minutes(job.deadline), "deadline"),
        ("signal", f"B:TERM@{job.stop_signal}" if job.stop_signal else None, "stop_signal"),
        ("output", f"{job.output}/%x-%j.out", "output"),
        ("open-mode", "append", ""),
    ]
    for name, value, field in options:
        if value is not None:
            yield f"#SBATCH --{name}={value}", field
    if job.exclusive:
        yield "#SBATCH --exclusive", "requests"
    yield ("#SBATCH --requeue" if job.requeue else "#SBATCH --no-requeue"), "retries"


def _minutes(seconds: int | None) -> str | None:
    """A time limit as days-hours:minutes:seconds; Slurm counts whole minutes, and rounds up."""
    if seconds is None:
        return None
    minutes = math.ceil(seconds / 60)
    days, rest = divmod(minutes, 24 * 60)
    hours, minutes = divmod(rest, 60)
    return f"{days}-{hours:02}:{minutes:02}:00"


def _start(job: BatchJob) -> Iterator[Line]:
    """Tries are counted, and so is the time since the first of them: Slurm begins to count anew with each."""
    yield "", ""
    yield f'state="{STATE}"', ""
    yield 'mkdir -p "$state"', ""
    yield "tries=${SLURM_RESTART_COUNT:-0}", "retries"
    yield f"retries={job.retries or 0}", "retries"
    yield (
        '[ "$tries" -le "$retries" ] || { echo "no try is left after $retries" >&2; exit 1; }',
        "retries",
    )
    if job.deadline is None:
        return
    yield '[ -s "$state/began" ] || date +%s > "$state/began"', "deadline"
    yield f'left=$(({job.deadline} - $(date +%s) + $(cat "$state/began")))', "deadline"
    # Not 0: the job has not done what it was to do, and jobs that depend on it do not start.
    told = (
        'tell "is out of time" "It was told to stop, and did not end before."; ' if job.told else ""
    )
    yield f'over() {{ echo "the time of the job is over" >&2; {told}exit 124; }}', "deadline"
    yield f'[ "$tries" = 0 ] || [ "$left" -gt {job.stop_signal or 0} ] || over', "deadline"
    yield (
        '[ "$tries" = 0 ] || scontrol update JobId="$SLURM_JOB_ID" TimeLimit="$(((left + 59) / 60))"',
        "deadline",
    )


def _variables(job: BatchJob) -> Iterator[Line]:
    if job.rendezvous or job.env or job.stored:
        yield "", ""
    known = {name for name, _ in job.rendezvous}
    for name, value in job.rendezvous:
        yield f'{name}="{value}"', f"env.{name}"
    if job.rendezvous:
        yield f"export {' '.join(name for name, _ in job.rendezvous)}", ""
    for variable in job.env:
        value = _word(variable.value or "", known)
        yield f"export {variable.name}={value}", f"env.{variable.name}"
        known.add(variable.name)
    for stored in job.stored:
        yield f"{stored.name}=$({_read(stored)})", f"env.{stored.name}"
        yield f"export {stored.name}", f"env.{stored.name}"


def _read(stored: StoredValue) -> str:
    """What prints a value: AWS CLI reference, secretsmanager get-secret-value; jq takes a key of JSON."""
    secret = shlex.quote(stored.secret)
    read = f"aws secretsmanager get-secret-value --secret-id {secret} --query SecretString --output text"
    if not stored.key:
        return read
    return f"{read} | python3 -c 'import json, sys; print(json.load(sys.stdin)[sys.argv[1]])' {shlex.quote(stored.key)}"


def _files(job: BatchJob) -> Iterator[Line]:
    for index, (path, text) in enumerate(sorted(job.files.items())):
        end = _end(text)
        field = f"files.{path}"
        yield f"cat > \"$state/file-{index}\" <<'{end}'", field
        for line in text.removesuffix("\n").split("\n"):
            yield line, field
        yield end, field


def _end(text: str) -> str:
    """A word that ends the text, and is no line of it."""
    end = "END"
    while end in text.split("\n"):
        end += "_"
    return end


def _run(job: BatchJob) -> Iterator[Line]:
    if job.told:
        yield from ((line, "") for line in watching.lines(job))
    if job.stop_signal:
        # Slurm tells the script, which remembers it and tells the program; of a job that is cancelled Slurm tells both.
        yield "stopped=''", "stop_signal"
        yield (
            """trap 'stopped=1; scancel --signal=TERM --state=RUNNING "$SLURM_JOB_ID"' TERM""",
            "stop_signal",
        )
    yield "srun --kill-on-bad-exit=1 --label \\", ""
    assert job.image is not None
    yield f"  --container-image={shlex.quote(_enroot(job.image))} \\", "image"
    mounts = list(_container_mounts(job))
    if mounts:
        yield f"  --container-mounts={','.join(mounts)} \\", "mounts"
    yield "  --no-container-mount-home \\", ""
    if job.working_dir:
        yield f"  --container-workdir={shlex.quote(job.working_dir)} \\", "working_dir"
    last = len(job.command) - 1
    known = {name for name, _ in job.rendezvous}
    known |= {variable.name for variable in job.env} | {stored.name for stored in job.stored}
    for index, word in enumerate(job.command):
        field = "command" if index < job.program else "args"
        end = "&" if index == last else "\\"
        yield f"  {_word(word, known)} {end}", field
    # A signal ends `wait`, and not the program.
    yield "program=$!", ""
    yield "status=0", ""
    yield 'wait "$program" || status=$?', ""
    yield (
        'while kill -0 "$program" 2>/dev/null; do status=0; wait "$program" || status=$?; done',
        "",
    )
    yield "", ""
    if job.stop_signal:
        yield '[ -z "$stopped" ] || over', "stop_signal"
        yield "trap - TERM", "stop_signal"
    yield 'if [ "$status" != 0 ] && [ "$tries" -lt "$retries" ]; then', "retries"
    yield '  echo "status $status, try $tries of $retries: back to the queue" >&2', "retries"
    yield '  scontrol requeue "$SLURM_JOB_ID"', "retries"
    # Slurm ends the script a moment later.
    yield "  sleep 60", "retries"
    yield "fi", "retries"
    if job.told:
        yield (
            '[ "$status" = 0 ] || tell "has failed" "It ended with status $status after $tries retries."',
            "",
        )
    yield 'exit "$status"', "retries"


def _container_mounts(job: BatchJob) -> Iterator[str]:
    """SRC:DST[:FLAGS] of pyxis, as bash reads it. A comma or a colon in a path cannot be said (``bounds``)."""
    for mount in job.mounts:
        flags = ":ro" if mount.read_only else ""
        yield shlex.quote(f"{mount.source}:{mount.path}{flags}")
    for index, path in enumerate(sorted(job.files)):
        yield f'"$state"/file-{index}:{shlex.quote(path)}:ro'


def _enroot(image: str) -> str:
    """An image as enroot has it: a `#` between registry and name, and a digest in the place of the tag, since enroot 3
    takes no `@` (enroot 3.4.1 and 4.1.2, src/docker.sh: [USER@][REGISTRY#]IMAGE[:TAG])."""
    name, _, digest = image.partition("@")
    first, slash, rest = name.partition("/")
    has_registry = bool(slash) and ("." in first or ":" in first or first == "localhost")
    path = rest if has_registry else name
    if digest:
        path = f"{path.partition(':')[0]}:{digest}"
    return f"{first}#{path}" if has_registry else path


def _word(word: str, known: Set[str]) -> str:
    """A word of a command as bash reads it. `$(NAME)` is the value of a variable of the job, as Kubernetes has it;
    another name stays, for a shell of the program's own, and `$$` is a `$` (core/v1 Container, command)."""
    if "$" not in word:
        return shlex.quote(word)
    parts: list[tuple[str, bool]] = []
    position = 0
    for found in _REFERENCE.finditer(word):
        name = found[1]
        if name and name not in known:
            continue
        parts.append((word[position : found.start()], False))
        parts.append((name or "$", bool(name)))
        position = found.end()
    parts.append((word[position:], False))
    return "".join(_quoted(text, is_name) for text, is_name in parts if text) or "''"


def _quoted(text: str, is_name: bool) -> str:
    return f'"${{{text}}}"' if is_name else shlex.quote(text)


def origins_of(job: BatchJob, made: Sequence[Line]) -> Places:
    """The place in the spec of each line, by its number from 0, and of each word of the program at its first line."""
    places: Places = {
        (number,): _origin(job, field) for number, (_, field) in enumerate(made) if field
    }
    fields = [field for _, field in made]
    if "command" in fields:
        first = fields.index("command")
        for index in range(len(job.command)):
            behind = index - job.program
            origin = job.where("args") / behind if behind >= 0 else job.where("command") / index
            places[first, index] = origin
    return places


def _origin(job: BatchJob, field: str) -> Route:
    if field.startswith("env.") and field not in job.origins:
        return job.where("env")
    return job.where(field)


FOLDER = "jobs"


def lower(plan: Plan) -> Iterator[Artifact]:
    """A file a job, by the name that the spec gives it."""
    for job in plan.of(BatchJob):
        made = list(lines(job))
        text = "\n".join(line for line, _ in made) + "\n"
        yield Artifact(
            path=f"{FOLDER}/{job.namespace}/{job.source_name}.sbatch",
            at=job.at,
            origins=origins_of(job, made),
            text=text,
            format="sbatch",
        )
