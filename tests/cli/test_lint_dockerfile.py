"""`trainyard lint` on Dockerfiles: found by their names, judged by themselves, each finding at its line."""

from __future__ import annotations

import json
from datetime import date
from pathlib import Path

import pytest
from running import Command
from trainyard.extensions.images.formats.dockerfile.grammar import unquoted
from trainyard.extensions.lint.linter import lint
from trainyard.language.diagnostics import Severity
from trainyard.run.outcome import Options

pytestmark = pytest.mark.needs("lint")

DIGEST = "sha256:" + "0" * 64
# Seed: a Dockerfile as the workshop has it.
WORKSHOP = """\
# the trainer
FROM nvcr.io/nvidia/pytorch:24.12-py3 AS base

RUN apt-get update \\
    # for DeepSpeed
    && pip install "torch>=2.4.0" \\
    && rm -rf /var/lib/apt/lists/*
FROM base
RUN curl -fsSL https://efa-installer.amazonaws.com/aws-efa-installer-latest.tar.gz | tar xz
COPY . /workspace
"""


def found(done_out: str) -> list[tuple[str, str, int]]:
    return [
        (each["code"], each["place"]["file"], each["place"]["line"])
        for each in json.loads(done_out)["diagnostics"]
    ]


def test_each_finding_is_at_its_line(trainyard: Command, tmp_path: Path) -> None:
    (tmp_path / "Dockerfile").write_text(WORKSHOP)
    done = trainyard("lint", "--format", "json", "Dockerfile", cwd=tmp_path)
    assert found(done.out) == [
        ("RUN061", "Dockerfile", 2),
        ("RUN062", "Dockerfile", 4),
        ("RUN063", "Dockerfile", 9),
    ]


@pytest.mark.parametrize(
    ("name", "read"),
    [
        ("Dockerfile", True),
        ("Dockerfile.gpu", True),
        ("train.Dockerfile", True),
        ("Containerfile", True),
        ("Dockerfile.dockerignore", False),
        ("dockerfile.png", False),
        ("dockerfiles.md", False),
    ],
)
def test_a_file_is_known_by_its_name(
    trainyard: Command, tmp_path: Path, name: str, read: bool
) -> None:
    (tmp_path / name).write_text("FROM ubuntu:24.04\n")
    done = trainyard("lint", "--format", "json", ".", cwd=tmp_path)
    assert ("RUN061" in done.out) is read


def test_what_docker_refuses_is_reported(trainyard: Command, tmp_path: Path) -> None:
    (tmp_path / "Dockerfile").write_text(f"FROM a@{DIGEST}\nRNU true\n")
    done = trainyard("lint", "--format", "json", "Dockerfile", cwd=tmp_path)
    assert found(done.out) == [("SCH004", "Dockerfile", 2)]
    assert done.code == 1


@pytest.mark.parametrize(
    ("steps", "faults"),
    [
        ("RUN cat > /a <<EOF\nset -e\nEOF\n", []),
        ("RUN cat > /a << 'EOF'\nset -e\nEOF\n", []),
        ("RUN cat > /a <<  EOF && chmod 755 /a\nset -e\nEOF\n", []),
        ("RUN 3<<EOF cat /dev/fd/3\nset -e\nEOF\n", []),
        ("ONBUILD RUN <<EOF\nset -e\nEOF\n", []),
        ("COPY <<-'one' <<\"two\" /a/\nset\n\tone\nif\ntwo\n", []),
        ("RUN <<EOF\nset -e\n EOF\nEOF\n", []),
        ("RUN <<EOF\nset -e\n\tEOF\n", [("SCH012", 2)]),
        ("RUN <<EOF\nset -e\nEOF \nRUN true\n", [("SCH012", 2)]),
        ("RUN <<-EOF\nset -e\n EOF\n", [("SCH012", 2)]),
        ("COPY <<ONE <<TWO /a/\nset\nONE\nif\n", [("SCH012", 2)]),
        ("RUN <<EOF\nset -e", [("SCH012", 2)]),
        # Words that begin none.
        ('RUN ["cat", "<<EOF"]\nRUN true\n', []),
        ('RUN echo "cat << EOF" > /a\nRUN true\n', []),
        ("RUN echo 'a <<EOF' $((1<<width)) && cat <<<word\nRUN true\n", []),
        ("CMD cat <<EOF\nset -e\n", [("SCH004", 3)]),
    ],
)
def test_here_documents(steps: str, faults: list[tuple[str, int]], tmp_path: Path) -> None:
    (tmp_path / "Dockerfile").write_text(f"FROM scratch\n{steps}")
    errors = lint([tmp_path], Options(today=date(2026, 11, 27))).all()
    assert [
        (each.code, each.span.line)
        for each in errors
        if each.span is not None and each.severity is Severity.ERROR
    ] == faults


@pytest.mark.parametrize(
    ("steps", "found"),
    [
        # a value over several lines, and one by the former way to write it
        ("ENV A=1 \\\n    HF_TOKEN=hf_x\n", [("RUN064", 3)]),
        ("ENV HF_TOKEN hf_x\n", [("RUN064", 2)]),
        ("ENV PATH_TO_IT /opt/a=b\n", []),
        # words that end nowhere, lists that are none, and a file that ends in a line that goes on
        ('CMD python "a.py\n', []),
        ("CMD [ -f a ] && b\n", []),
        ('CMD ["a", "b"\n', []),
        ("USER app\nRUN a \\", []),
        ("\\\n\\\n", []),
    ],
)
def test_odd_instructions(steps: str, found: list[tuple[str, int]], tmp_path: Path) -> None:
    (tmp_path / "Dockerfile").write_text(f"FROM a@{DIGEST}\n{steps}")
    reported = lint([tmp_path], Options(today=date(2026, 11, 27))).all()
    assert [(each.code, each.span.line) for each in reported if each.span is not None] == found


def test_a_clean_one_is_counted(trainyard: Command, tmp_path: Path) -> None:
    (tmp_path / "Dockerfile").write_text(f"FROM a@{DIGEST}\nUSER 10001\n")
    done = trainyard("lint", ".", cwd=tmp_path)
    assert (done.code, done.out) == (0, "")
    assert "clean: 1 dockerfile in 1 file" in done.err


@pytest.mark.parametrize(
    ("written", "value"),
    [
        ("plain", "plain"),
        ("'two words'", "two words"),
        ('"two words"', "two words"),
        ('"a \\"b\\""', 'a "b"'),
        ("two\\ words", "two words"),
        ("'", ""),
        ('"', '"'),
    ],
)
def test_values_are_read_without_their_quotes(written: str, value: str) -> None:
    assert unquoted(written) == value
