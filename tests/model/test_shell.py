"""Commands and variables that are read out of words and lines of shell."""

from __future__ import annotations

import pytest
from trainyard.judge.model.exports import exported
from trainyard.judge.model.mpirun import ranks_of
from trainyard.judge.model.redirections import redirected
from trainyard.judge.model.saves import saved_in_programs
from trainyard.judge.model.shell import is_pip_install, option_values, read_commands


@pytest.mark.parametrize(
    ("words", "commands"),
    [
        (("git", "clone", "a"), [(0, ("git", "clone", "a"))]),
        (("/usr/bin/git", "clone", "a"), [(0, ("git", "clone", "a"))]),
        (
            ("bash", "-c", "cd /x && exec pip install -q 'a>=1' # not b"),
            [(2, ("pip", "install", "-q", "a>=1"))],
        ),
        (
            ("sh", "-c", "set -e\nA=1 aws s3 sync \\\n  --delete a s3://b\ngit pull"),
            [(2, ("aws", "s3", "sync", "--delete", "a", "s3://b")), (2, ("git", "pull"))],
        ),
        (("sh", "-c", "python3.12 -m pip install a"), [(2, ("pip", "install", "a"))]),
        (("sh", "-c", "if true; then git pull; fi"), [(2, ("git", "pull"))]),
        (("torchrun", "train.py", "--git", "pip"), []),
        ((), []),
    ],
)
def test_commands(words: tuple[str, ...], commands: list[object]) -> None:
    assert [(index, command) for index, command, _ in read_commands(words)] == commands


def test_a_line_of_shell_keeps_its_quotes() -> None:
    """A command without a shell has none."""
    lines = [line for _, _, line in read_commands(("sh", "-c", "pip install 'a<2' && git pull"))]
    assert lines == ["pip install 'a<2' ", " git pull"]
    assert [line for _, _, line in read_commands(("pip", "install", "a<2"))] == [""]


def test_installs_and_options() -> None:
    assert is_pip_install(("pip", "install", "a"))
    assert is_pip_install(("uv", "pip", "install", "a"))
    assert not is_pip_install(("pip", "download", "install"))
    words = ("pip", "install", "--index-url=a", "-i", "b", "-i")
    assert list(option_values(words, "--index-url", "-i")) == ["a", "b"]


@pytest.mark.parametrize(
    ("text", "variables"),
    [
        ("export NCCL_DEBUG=INFO\ntorchrun a.py", {"NCCL_DEBUG": "INFO"}),
        (
            'NCCL_TOPO_FILE="" FI_PROVIDER=tcp torchrun a.py',
            {"NCCL_TOPO_FILE": "", "FI_PROVIDER": "tcp"},
        ),
        ("mpirun -x NCCL_PROTO=simple a", {"NCCL_PROTO": "simple"}),
        ("export NCCL_SOCKET_IFNAME=$IFACE; a", {"NCCL_SOCKET_IFNAME": None}),
        ("CUDA_VISIBLE_DEVICES=0 python a.py", {}),
        ("export CUDA_VISIBLE_DEVICES=0,1 && python a.py", {"CUDA_VISIBLE_DEVICES": "0,1"}),
        ("export NCCL_ALGO=Ring; a; export NCCL_ALGO=Tree; b", {"NCCL_ALGO": None}),
        ("python a.py --set MY_NCCL_DEBUG=1", {}),
        ("export NCCL_DEBUG=INFO; export CUDA_HOME=/usr/local/cuda; a", {"NCCL_DEBUG": "INFO"}),
    ],
)
def test_exports(text: str, variables: dict[str, str | None]) -> None:
    assert dict(exported(("bash", "-c", text))) == variables


def test_folders_of_programs() -> None:
    program = (
        "python3 <<'EOF'\nimport os\nOUT = '/work/out'\n"
        "Arguments(output_dir=OUT)\nsave(save_dir='/work/last')\nload(input_dir='/in')\nEOF"
    )
    found = saved_in_programs(("bash", "-c", program))
    assert found == (("output_dir", "/work/out"), ("save_dir", "/work/last"))
    assert saved_in_programs(("python", "a.py", "output_dir='/x'")) == ()
    unsaid = program.replace("OUT = '/work/out'", "OUT = os.environ['OUT']")
    assert saved_in_programs(("bash", "-c", unsaid)) == (("save_dir", "/work/last"),)


@pytest.mark.parametrize(
    ("line", "files"),
    [
        ("pip install torch>2.4 'numpy<2'", [("torch", ">", "2.4")]),
        ("pip install torch<3 peft", [("torch", "<", "3")]),
        ("pip install 'torch>2.4", []),
        ("pip install torch > log.txt", []),
    ],
)
def test_requirements_that_a_shell_redirects(line: str, files: list[tuple[str, str, str]]) -> None:
    """None of a line whose quotation does not end: it is no line by itself."""
    found = [(each.name, each.sign, each.file) for each in redirected(line)]
    assert found == files


@pytest.mark.parametrize(
    ("line", "ranks"),
    [
        ("mpirun -np 32 python a.py", 32),
        ("/opt/mpi/bin/mpiexec --n 4 a", 4),
        ("mpirun --allow-run-as-root --mca btl ^openib -x NCCL_DEBUG -np 8 a", 8),
        ("mpirun --bind-to none --hostfile hosts -c 2 a", 2),
        ("mpirun -np $RANKS a", None),
        ("mpirun -np", None),
        ("mpirun -q", None),
        ("mpirun a -np 4", None),
        ("mpirun --unheard-of -np 4 a", None),
        ("mpirun --map-by ppr:8:node a", None),
        ("mpirun", None),
    ],
)
def test_the_ranks_that_mpirun_starts(line: str, ranks: int | None) -> None:
    """Of a command that is one line, or several words."""
    assert ranks_of((line,)) == ranks
    assert ranks_of(line.split()) == ranks
