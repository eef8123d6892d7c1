from __future__ import annotations

import re
from collections.abc import Iterator

from trainyard.judge.model.command import options
from trainyard.judge.model.work import Work
from trainyard.judge.policy.rule import Finding, rule
from trainyard.language.diagnostics import Severity

_IN_PYTHON = r"(?P<name>\w+)\s*\((?P<arguments>[^()]*(?:\([^()]*\)[^()]*)*)\)"
_TRUSTS = r"\btrust_remote_code\s*=\s*True\b"
_PINS = r"\b(?:code_)?revision\s*="
_OPTION = r"--trust[-_]remote[-_]code"
_TRUST = "trust-remote-code"
_YES, _NO = ("true", "1", "yes", "y", "t"), ("false", "0", "no", "n", "f")
"""How programs of transformers read a value (HfArgumentParser, string_to_bool)."""
_LOCAL_PATH = r"--model(?:[-_](?:path|name[-_]or[-_]path))?[= ][\"']?/"
_PINNING_OPTION = r"--(?:\w+[-_])?revision\b"


@rule("RUN156", severity=Severity.WARNING, pods=True, containers=True, roles=True)
def remote_code_not_pinned(work: Work) -> Iterator[Finding]:
    """A job runs code of a model or a data set from the Hugging Face Hub, at whatever version is there.

    With `trust_remote_code` transformers and datasets run Python files of the repository, with the rights of the job. A
    `revision` is the commit; without it each start takes the newest one, so that a change by its owner, or by somebody
    with their token, runs on every node at the next start (transformers documentation, custom models: pass a
    `revision`). Read from calls in the command and from its options; of a path of the file system nothing is fetched.

    ## Fails

        jobs:
          - name: llama
            command: [torchrun, train.py, --model_name_or_path=deepseek-ai/DeepSeek-V3, --trust_remote_code]

        jobs:
          - name: llama
            command:
              - python
              - -c
              - "AutoModelForCausalLM.from_pretrained(NAME, device_map=dict(), trust_remote_code=True)"

    ## Passes

        jobs:
          - name: llama
            command: [torchrun, train.py, --trust_remote_code, --model_revision=4c1f9d0]

        jobs:
          - name: llama
            command:
              - python
              - -c
              - "AutoModelForCausalLM.from_pretrained(NAME, trust_remote_code=True, revision='4c1f9d0')"

        jobs: [{name: llama, command: [torchrun, train.py, --trust_remote_code=False]}]

        jobs: [{name: llama, command: [torchrun, train.py, --trust-remote-code, "False"]}]

        jobs: [{name: llama, command: [torchrun, train.py, --model_name_or_path=/data/llama, --trust_remote_code]}]
    """
    by = _by_call(work) or _by_option(work)
    if by:
        yield Finding(
            f"{work.title} runs code of another repository, of no version ({by})",
            work.where_said("trust_remote_code"),
            label="whatever is there at each start",
            help="name the commit with `revision`, or leave `trust_remote_code` out",
        )


def _by_call(work: Work) -> str:
    """The call in the command that trusts code, and names no commit; empty without one."""
    for word in work.words:
        if "trust_remote_code" not in word:
            continue
        for call in re.finditer(_IN_PYTHON, word):
            arguments = call["arguments"]
            is_local = arguments.lstrip().startswith(('"/', "'/"))
            if re.search(_TRUSTS, arguments) and not re.search(_PINS, arguments) and not is_local:
                return f"`{call['name']}`"
    return ""


def _by_option(work: Work) -> str:
    """The option of the command that trusts code, where no other option names a commit."""
    line = " ".join(work.words)
    if "remote" not in line or re.search(_PINNING_OPTION, line) or re.search(_LOCAL_PATH, line):
        return ""
    for name, value in options(work.words):
        if name == _TRUST and (value or "").lower() not in _NO:
            return f"`{'='.join(filter(None, (_written(line), _given(value))))}`"
    return ""


def _written(line: str) -> str:
    """The option as the command has it."""
    found = re.search(_OPTION, line)
    return found[0] if found is not None else f"--{_TRUST}"


def _given(value: str | None) -> str:
    """A value that says yes; another word behind the option is none of it."""
    return value if value is not None and value.lower() in _YES else ""
