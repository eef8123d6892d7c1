"""One meaning, many spellings: a command gets one verdict in whatever way a shell is told it."""

from __future__ import annotations

import json

import pytest

from compiler.model.statements import started
from tests.policy.saying import said

FSX = """storage: [{name: data, fsxLustre: {existing: {id: fs-0a1b2c3d4e5f60718, address: 10.0.1.9, mountName: abcdefgh,
  size: 4800Gi, version: "2.15"}}}]
"""
DELETES = (
    "rm -rf /data/llama; torchrun train.py",
    "rm -rf /data/llama;torchrun train.py",
    "rm -rf '/data/llama' && torchrun train.py",
    'rm -rf "/data/llama/" && torchrun train.py',
    'rm -rf "$CHECKPOINT_DIR"; torchrun train.py',
    "rm -fr ${CHECKPOINT_DIR}; torchrun train.py",
    'rm -rf "${CHECKPOINT_DIR:?}"/*; torchrun train.py',
    "rm -r -f /data/llama/*; torchrun train.py",
    "rm --recursive --force -- /data/llama; torchrun train.py",
    "(rm -rf /data/llama); torchrun train.py",
    "{ rm -rf /data/llama; }; torchrun train.py",
    "if [ -d /data/llama ]; then rm -rf /data/llama; fi; torchrun train.py",
    "cd /data && rm -rf llama; torchrun train.py",
    "cd /data; rm -rf ./llama; torchrun train.py",
    "rm -rf /data/tmp/../llama; torchrun train.py",
    "C=/data/llama; rm -rf $C; torchrun train.py",
    "export C=/data/llama && rm -rf $C/ && torchrun train.py",
    "sudo rm -rf /data/llama; torchrun train.py",
    "FORCE=1 rm -rf /data/llama 2>/dev/null || true; torchrun train.py",
    "timeout 60 rm -rf /data/llama; torchrun train.py",
    "bash -c 'rm -rf /data/llama'; torchrun train.py",
    "find /data/llama -type f -delete; torchrun train.py",
    "rm -rf \\\n  /data/llama\ntorchrun train.py",
)
KEEPS = (
    "rm -rf /data/llama/tmp; torchrun train.py",
    "rm -rf /data/llama-old; torchrun train.py",
    "echo 'rm -rf /data/llama'; torchrun train.py",
    "# rm -rf /data/llama\ntorchrun train.py",
    "rm -f /data/llama.log; torchrun train.py",
    "cd /tmp; rm -rf llama; torchrun train.py",
    "rm -rf $OTHER; torchrun train.py",
    "torchrun train.py --note 'rm -rf /data/llama'",
)


def saved(command: str) -> str:
    words = json.dumps(["bash", "-c", command])
    return (
        FSX + "jobs: [{name: llama, mounts: [{storage: data, path: /data}], "
        f"checkpoint: {{path: /data/llama}}, terminationGracePeriod: 1m, command: {words}}}]"
    )


@pytest.mark.parametrize("command", DELETES)
def test_a_folder_of_checkpoints_is_deleted(command: str) -> None:
    assert said("RUN153", saved(command))


@pytest.mark.parametrize("command", KEEPS)
def test_another_folder_is_deleted(command: str) -> None:
    assert not said("RUN153", saved(command))


NO_PROGRAM = (
    ["torchrun", "train.sh"],
    ["torchrun", "--standalone", "train.sh"],
    ["torchrun", "--nproc_per_node", "8", "train.sh"],
    ["torchrun", "--nproc-per-node=8", "-r", "3", "train.sh"],
    ["python", "-m", "torch.distributed.run", "--nproc-per-node=8", "train.sh"],
    ["python3.12", "-u", "-X", "faulthandler", "train.sh"],
    ["timeout", "10h", "torchrun", "train.sh"],
    ["bash", "-c", "exec torchrun train.sh > /tmp/log 2>&1"],
    ["bash", "-c", "(torchrun train.sh)"],
    ["deepspeed", "--no_ssh", "train.sh"],
)
PROGRAMS = (
    ["torchrun", "--standalone", "train.py", "config.yaml"],
    ["torchrun", "--virtual-local-rank", "train.py", "config.yaml"],
    ["torchrun", "-m", "team.train", "config.yaml"],
    ["torchrun", "--no_python", "./train.sh"],
    ["torchrun", "--local-ranks-filter", "0", "train.py", "config.yaml"],
    ["deepspeed", "--bf16", "train.py", "ds.json"],
    ["deepspeed", "--hostfile", "/h/hosts.json", "--module", "team.train", "ds.json"],
    ["python", "-m", "torch.distributed.run", "--standalone", "train.py", "config.yaml"],
    ["python", "-um", "team.train", "config.yaml"],
    ["python", "-c", "print(1)", "config.yaml"],
)


@pytest.mark.parametrize("words", NO_PROGRAM)
def test_a_file_is_no_program(words: list[str]) -> None:
    assert said("RUN141", f"jobs: [{{name: llama, command: {json.dumps(words)}}}]")


@pytest.mark.parametrize("words", PROGRAMS)
def test_a_configuration_stands_behind_its_program(words: list[str]) -> None:
    text = f"jobs: [{{name: llama, command: {json.dumps(words)}}}]"
    assert not said("RUN141", text)
    assert not said("RUN128", text)


@pytest.mark.parametrize(
    ("text", "programs"),
    [
        ("cat <<E > x\nrm -rf /\nE\ntorchrun t.py", ["cat", "torchrun"]),
        ("for i in 1 2; do torchrun t.py 2>&1 | tee /l; done", ["torchrun", "tee"]),
        ("case $X in a) torchrun t.py ;; esac", ["torchrun"]),
        ("X=$(hostname; date) torchrun t.py", ["torchrun"]),
        ("torchrun --rdzv-endpoint=$(hostname):29500 t.py", ["torchrun"]),
        ("while ! nc -z h 1; do sleep 1; done; torchrun t.py", ["nc", "sleep", "torchrun"]),
        ("nice -n 5 env -u A B=1 torchrun t.py&wait", ["torchrun", "wait"]),
        ("torchrun t.py >> /l 2>> /m < /dev/null", ["torchrun"]),
        ("echo a#b # c; rm x", ["echo"]),
        ("eval 'torchrun t.py'", ["torchrun"]),
        ("torchrun 't.py", ["bash"]),
    ],
)
def test_what_a_text_starts(text: str, programs: list[str]) -> None:
    """A text that does not end is read as the shell that it is given to."""
    assert [each.program for each in started(("bash", "-c", text))] == programs
