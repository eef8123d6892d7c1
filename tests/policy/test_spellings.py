"""One meaning, many spellings: a command gets one verdict in whatever way a shell is told it."""

from __future__ import annotations

import json

import pytest
from trainyard.judge.model.command import launches, named_options, options, starts
from trainyard.judge.model.shell import read_commands as read_programs
from trainyard.judge.model.statements import started

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


OPTIONS = (
    ["torchrun", "--nnodes=2", "train.py"],
    ["torchrun", "--nnodes", "2", "train.py"],
    ["bash", "-c", "torchrun --nnodes 2; echo done"],
    ["bash", "-c", "torchrun --nnodes 2;echo done"],
    ["bash", "-c", "(torchrun train.py --nnodes 2)"],
    ["bash", "-c", "torchrun --nnodes '2' train.py"],
    ["bash", "-c", 'torchrun "--nnodes=2" train.py'],
    ["bash", "-c", "torchrun \\\n  --nnodes \\\n  2 train.py"],
    ["bash", "-c", "torchrun train.py --nnodes 2 > /l 2>&1"],
    ["bash", "-c", "N=2; torchrun --nnodes $N train.py"],
    ["bash", "-c", "export N=2 && torchrun --nnodes ${N} train.py"],
    ["bash", "-c", "A='--nnodes 2 --seed 1'; torchrun $A train.py"],
    ["bash", "-c", "timeout 1h torchrun --nnodes 2 train.py"],
    ["bash", "-c", "bash -c 'torchrun --nnodes 2 train.py'"],
    ["--nnodes", "2"],
    ["torchrun --nnodes 2 train.py"],
)
NO_OPTIONS = (
    ["bash", "-c", "# torchrun --nnodes 2\ntorchrun train.py"],
    ["bash", "-c", "torchrun train.py --note 'to run with --nnodes 2'"],
    ["bash", "-c", "cat <<E > x\n--nnodes 2\nE\ntorchrun train.py"],
    ["torchrun", "train.py", "--note", "with --nnodes 2"],
)


@pytest.mark.parametrize("words", OPTIONS)
def test_an_option_has_its_value(words: list[str]) -> None:
    assert named_options(tuple(words)).get("nnodes") == "2"


@pytest.mark.parametrize("words", NO_OPTIONS)
def test_what_is_no_option(words: list[str]) -> None:
    assert "nnodes" not in named_options(tuple(words))


@pytest.mark.parametrize(
    ("text", "name", "value"),
    [
        ("pip install a --quiet\n\npython3 train.py", "quiet", None),
        ("./install.sh --skip-kmod && exec torchrun train.py", "skip-kmod", None),
        ("preprocess --workers 64; ls", "workers", "64"),
        ("train --rank $(hostname | cut -d- -f4-) --seed 1", "rank", "$(hostname | cut -d- -f4-)"),
        ("H=`cat /h`; mpiexec --host $H train", "host", "$H"),
        ("H=$(cat /h); mpiexec --host ${H} train", "host", "${H}"),
        ("accelerate launch --use-deepspeed \\\n  train.py", "use-deepspeed", "train.py"),
    ],
)
def test_a_value_ends_where_the_shell_ends_it(text: str, name: str, value: str | None) -> None:
    assert dict(options(("bash", "-c", text)))[name] == value


TORCHRUN = (
    ["torchrun", "train.py"],
    ["/opt/conda/bin/torchrun", "train.py"],
    ["python", "-m", "torch.distributed.run", "train.py"],
    ["srun", "--mpi=pmix", "torchrun", "train.py"],
    ["nsys", "profile", "-o", "/l", "torchrun", "train.py"],
    ["numactl", "-N", "0", "torchrun", "train.py"],
    ["bash", "-c", "cd /w;torchrun train.py"],
    ["bash", "-c", "if true; then exec torchrun train.py; fi"],
    ["bash", "-c", "NCCL_DEBUG=INFO torchrun train.py"],
    ["torchrun train.py"],
)
NO_TORCHRUN = (
    ["python", "train.py", "--launcher", "torchrun"],
    ["bash", "-c", "echo torchrun; python train.py"],
    ["bash", "-c", "# torchrun train.py\npython train.py"],
    ["python", "train.py", "--out", "/data/torchrun-1"],
    ["bash", "-c", "pip install torchrun-tools && python train.py"],
)


@pytest.mark.parametrize("words", TORCHRUN)
def test_torchrun_is_started(words: list[str]) -> None:
    assert launches(tuple(words))


@pytest.mark.parametrize("words", NO_TORCHRUN)
def test_torchrun_is_named_and_not_started(words: list[str]) -> None:
    assert not launches(tuple(words))


@pytest.mark.parametrize(
    ("words", "is_started"),
    [
        (["mpirun", "train"], True),
        (["/usr/local/bin/mpirun", "train"], True),
        (["bash", "-c", "sleep 1;mpirun train"], True),
        (["bash", "-c", "(mpirun train)"], True),
        (["bash", "-c", "sudo -u mpi timeout 2h mpirun train"], True),
        (["bash", "-c", "while ! nc -z h 22; do sleep 1; done; A=1 mpirun train"], True),
        (["bash", "-c", "echo 'mpirun train'"], False),
        (["python", "mpirun"], False),
        (["bash", "-c", "which mpirun"], False),
    ],
)
def test_a_program_is_started(words: list[str], is_started: bool) -> None:
    assert starts(words, "mpirun") is is_started


LOSES = (
    "torchrun train.py || true",
    "timeout 10h torchrun train.py || true",
    "env -u A B=1 torchrun train.py || true",
    "nice -n 5 torchrun train.py || true",
    "sudo -u team torchrun train.py || true",
    "exec -a x torchrun train.py || true",
)


@pytest.mark.parametrize("command", LOSES)
def test_the_status_of_training_is_lost(command: str) -> None:
    words = json.dumps(["bash", "-c", command])
    assert said("RUN127", f"jobs: [{{name: llama, command: {words}}}]")


PULLS = (
    "git pull",
    "cd /w;git pull",
    "(cd /w && git pull)",
    "sudo -u team git pull",
    "timeout 60 git pull",
    "env -u A B=1 git pull",
    "while ! git pull; do sleep 1; done",
    "git pull > /l 2>&1 || true",
    "X=$(cd /w && git pull); echo $X",
    "X=`git pull`",
    "bash -c 'git pull'",
    "eval 'git pull'; git pull",
)
PULLS_NOTHING = (
    "echo 'a; git pull'",
    "# git pull\ntrue now",
    "cat <<E > x\ngit pull\nE",
    "python train.py --note 'then; git pull'",
)


@pytest.mark.parametrize("text", PULLS)
def test_a_program_that_rules_read_is_found(text: str) -> None:
    assert ("git", "pull") in [words for _, words, _ in read_programs(("bash", "-c", text))]


@pytest.mark.parametrize("text", PULLS_NOTHING)
def test_what_is_no_command_is_not_read(text: str) -> None:
    assert read_programs(("bash", "-c", text)) == ()
