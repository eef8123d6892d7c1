from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from trainyard.core.pods.plan import Container
from trainyard.judge.model.command import options
from trainyard.judge.model.work import Work
from trainyard.judge.policy.rule import Finding, rule
from trainyard.judge.policy.world import World
from trainyard.language.diagnostics import Severity
from trainyard.language.diagnostics.secrets import (
    carried,
    forms,
    literal,
    may_have_secret,
    named,
    named_values,
)
from trainyard.language.places import Route

# Characters of a token; shorter values of `--token` are names and numbers.
_SHORTEST = 16


@rule("RUN024", pods=True)
def secret_in_env(work: Work, world: World) -> Iterator[Finding]:
    """A job has a secret as plain text.

    What is written in git is read by everybody who reads git, and stays in its history (Kubernetes, good practices
    for Secrets). Found by the names of variables and options that carry credentials, and by the form of tokens, in
    variables and in the commands of all containers; the value is not printed.

    ## Fails

        jobs: [{name: llama, env: {HF_TOKEN: hf_abcdefghijklmnopqrstuvwxyz}}]

        jobs: [{name: llama, env: {MIRROR: "https://me:hunter22@pypi.example/simple"}}]

        jobs: [{name: llama, command: [torchrun, train.py, --hub-token=hf_abcdefghijklmnopqrstuvwxyz]}]

        jobs: [{name: llama, command: [bash, -c, "wandb login --api-key 0123456789abcdef0123 && torchrun train.py"]}]

        jobs: [{name: llama, command: [bash, -c,
          "wandb login --relogin 0123456789abcdef0123456789abcdef01234567; torchrun train.py"]}]

        jobs: [{name: llama, command: [bash, -c, "WANDB_API_KEY=0123456789abcdef0123 exec torchrun train.py"]}]

        jobs: [{name: llama, command: [mlflow, run, --db-password=hunter2]}]

        jobs: [{name: llama, command: [torchrun, train.py, --wandb-key=0123456789abcdef0123456789abcdef01234567]}]

        jobs: [{name: llama, env: {REGISTRY_TOKEN: 0a1b2c3d4e5f60718293a4b5c6d7e8f9}}]

        jobs: [{name: llama, initContainers: [{name: fetch, command: [python, fetch.py],
          env: {HF_TOKEN: hf_abcdefghijklmnopqrstuvwxyz}}]}]

        jobs: [{name: llama, initContainers: [{name: fetch, command: [fetch, --token=hf_abcdefghijklmnopqrstuvwxyz]}]}]

    ## Passes

        jobs: [{name: llama, initContainers: [{name: fetch, command: [python, fetch.py], env: {HF_HOME: /cache}}]}]

        jobs: [{name: llama, env: {PAD_TOKEN: "<|reserved_special_token_10|>", MLFLOW_TRACKING_PASSWORD: "$(PASSWORD)",
          MIRROR: "https://$(USER):$(PASSWORD)@pypi.example/simple", COMMIT: 0a1b2c3d4e5f60718293a4b5c6d7e8f90a1b2c3d}}]

        jobs: [{name: llama, env: {HF_HOME: /data/hf, TOKENIZERS_PARALLELISM: "false"}}]

        jobs: [{name: llama, command: [bash, -c, "wandb login --api-key $WANDB_API_KEY && exec torchrun train.py"]}]
    """
    for name, value in work.env.items():
        if name in work.configured:
            continue  # ACC014 reports what a ConfigMap has
        if value and carried(name, value) and not work.is_of_image(name):
            yield Finding(
                f"`{name}` of {work.title} has its value in git",
                work.where_env(name),
                secret=True,
                help=_help(work),
                spec_help=f"{_kept(work)}, and write `secretEnv: [{{env: {name}, secret: …, key: …}}]`",
            )
    what = _in_command(work.words)
    if what:
        yield Finding(
            f"the command of {work.title} has {what} in git",
            _place(work),
            secret=True,
            help=f"{_kept(work)}, take it as a variable, and let the program read that",
        )
    if work.has_pods:
        yield from _filled_in(work)
    for words, at in () if work.has_pods else work.before:
        what = _in_command(words)
        if what:
            yield Finding(
                f"the script of {work.title} has {what} in git",
                at,
                secret=True,
                help="keep it in AWS Secrets Manager, and read it when the job starts",
            )
    for container, whose in _others(work):
        if world.plan.closed and _is_copy(container, work):
            continue
        yield from _beside(container, whose)


def _filled_in(work: Work) -> Iterator[Finding]:
    """Secrets that whoever fills in the file, a person or a template, writes into the object as they are."""
    for name, value in work.env.items():
        if value and named(name) and re.fullmatch(_BY_TEMPLATE, value.strip()):
            yield Finding(
                f"`{name}` of {work.title} is filled in as plain text",
                work.where_env(name),
                label="whoever reads the object reads it",
                secret=True,
                help=_help(work),
                severity=Severity.WARNING,
            )
    nodes: list[Work | Container] = [work]
    if work.main is not None:
        nodes.append(work.main)
    for node in nodes:
        for field, words in (("command", node.command), ("args", node.args)):
            for index, word in enumerate(words):
                before = f"{words[index - 1]} " if index else ""
                found = re.search(_GIVEN, f"{before}{word}")
                if found is None or not _is_token(found["name"]):
                    continue
                yield Finding(
                    f"`{found['name'].lstrip('-')}` in the command of {work.title} is filled in as plain text",
                    node.where(field) / index,
                    label="whoever reads the object reads it",
                    secret=True,
                    help=f"{_kept(work)}, take it as a variable, and let the program read that",
                    severity=Severity.WARNING,
                )


def _is_token(name: str) -> bool:
    bare = name.lstrip("-")
    return named(bare) or (name.startswith("--") and bare in _TOKENS)


_EXPRESSION = r"\{\{[^{}]*\}\}|<[A-Za-z][\w .-]*>|\$[A-Za-z]\w*?_{2,}"
"""What a template or a person fills in: a shell knows none of these. An expression that is no YAML was read as a name
of its length."""
_BY_TEMPLATE = rf"(?:{_EXPRESSION}|\$[A-Za-z_]\w*|\$\{{[^{{}}]+\}})"
"""In a value, where Kubernetes replaces no variables of a shell either."""
_GIVEN = (
    rf"(?<![\w-])(?P<name>-{{0,2}}[A-Za-z_][\w-]*)(?:=|\s+)[\"']?(?:{_EXPRESSION})[\"']?(?:\s|;|$)"
)


def _kept(work: Work) -> str:
    return "put it into a Secret" if work.has_pods else "keep it in AWS Secrets Manager"


def _help(work: Work) -> str:
    if work.has_pods:
        return "put it into a Secret, and write `valueFrom: {secretKeyRef: {name: …, key: …}}`"
    return "keep it in AWS Secrets Manager, and read it when the job starts: `aws secretsmanager get-secret-value`"


def _others(work: Work) -> Iterator[tuple[Container, str]]:
    """Containers other than the program's, and what to call each: init containers, sidecars, those of other pods."""
    own = () if work.pod is None else ((work.pod, work.title),)
    others = [(pod, f"`{part.name}` of {work.title}") for part, pod, _ in work.others]
    for pod, title in (*own, *others):
        for container in pod.init_containers:
            yield container, f"init container `{container.name}` of {title}"
        for container in pod.containers:
            if pod is not work.pod or work.main is None or container.name != work.main.name:
                yield container, f"container `{container.name}` of {title}"


def _is_copy(container: Container, work: Work) -> bool:
    """Whether a container is the program's, or an init container's, in another role: a spec says it once."""
    words = (*container.command, *container.args)
    env = {variable.name: variable.value for variable in container.env if variable.value}
    if words == work.words and env.items() <= work.env.items():
        return True
    first = work.pod.init_containers if work.pod is not None else ()
    others = [own for own in first if own is not container and own.name == container.name]
    return any((own.command, own.args) == (container.command, container.args) for own in others)


def _beside(container: Container, whose: str) -> Iterator[Finding]:
    """What a container has that is not that of the program."""
    for variable in container.env:
        value = variable.value
        if value and carried(variable.name, value):
            yield Finding(
                f"`{variable.name}` of {whose} has its value in git",
                container.place(variable),
                secret=True,
                help="put it into a Secret, and mount that under `volumes:`",
            )
    what = _in_command((*container.command, *container.args))
    if what:
        yield Finding(
            f"the command of {whose} has {what} in git",
            _word(container),
            secret=True,
            help="put it into a Secret, mount that under `volumes:`, and let the program read it",
        )


def _in_command(words: Sequence[str]) -> str:
    """What kind of secret a command has; empty without one."""
    line = " ".join(words)
    if not may_have_secret(line):
        return ""
    for text in (*words, line):
        for what in forms(text):
            return what
    for name, value in options(words):
        if value is not None and _credential(name, value):
            return f"the value of `--{name}`"
    for word in words:
        for name in named_values(word):
            return f"the value of `{name}`"
    return ""


_SERVICES = ("wandb", "hf", "comet", "neptune", "clearml", "mlflow", "ngc", "openai")
_TOKENS = ("token", "auth-token", "hub-token", "access-token")


def _credential(name: str, value: str) -> bool:
    """Whether the value of an option is a credential: a password of any length, a token of many characters."""
    if not literal(value):
        return False
    if name.endswith(("password", "passwd")):
        return True
    of_service = name.endswith("key") and name.startswith(_SERVICES)
    is_token = named(name) or of_service or name in _TOKENS
    return is_token and len(value) >= _SHORTEST


def _place(work: Work) -> Route:
    """The word of the job, or of its container where the job has no words."""
    own = work.command or work.args
    return _word(work if own or work.main is None else work.main)


def _word(node: Work | Container) -> Route:
    """The word of the arguments or of the command that a secret stands in."""
    for field, words in (("args", node.args), ("command", node.command)):
        for index in range(len(words)):
            if _in_command(words[: index + 1]):
                return node.where(field) / index
    return node.where("command")
