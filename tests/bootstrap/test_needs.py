"""A word that stands for what AWS has not answered is for dry runs alone: a run says what there is not."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from builders import ROOT

pytestmark = pytest.mark.slow

TEMPLATES = sorted((ROOT / "compiler").rglob("*.sh.j2"))
NEEDS = (ROOT / "compiler/trainyard/output/lowering/templates/steps/needs.sh.j2").read_text(
    encoding="utf-8"
)
WORD = re.compile(r"\$\{\w+:-[A-Z]{2,}\}")


def words(path: Path) -> Iterator[str]:
    """The lines that have such a word where it may be sent: not under a question for a dry run."""
    lines = path.read_text(encoding="utf-8").splitlines()
    for before, line in zip(["", *lines], lines, strict=False):
        if WORD.search(line) and '[ -n "$dry" ]' not in f"{before}{line}":
            yield line.strip()


def test_no_script_sends_a_word() -> None:
    assert len(TEMPLATES) > 20
    assert {path.name: found for path in TEMPLATES if (found := list(words(path)))} == {
        # a folder of files on the disk of whoever runs it, which is read from there
        "secrets.sh.j2": ['set -- "$@" "--from-file=${TRAINYARD_SECRETS:-SECRETS}/$name/"']
    }


@pytest.mark.parametrize("answer", ["", "None", "null", "vpc-1", "rtb-1 rtb-2"])
@pytest.mark.parametrize("dry", ["", "1"])
def test_what_nothing_goes_on_without(answer: str, dry: str) -> None:
    script = f"""
set -euo pipefail
again='' step=endpoint dry='{dry}' answer='{answer}'
fail() {{ printf '%s\\n' "$@" >&2; exit 1; }}
{NEEDS}
needs TABLES "route table of vpc-1"
echo "$answer"
"""
    done = subprocess.run(
        ["bash", "-c", script], capture_output=True, text=True, check=False, timeout=30
    )
    is_known = answer not in ("", "None", "null")
    if is_known or dry:
        assert (done.returncode, done.stdout) == (0, f"{answer if is_known else 'TABLES'}\n")
        return
    assert done.returncode == 1
    assert done.stderr.splitlines() == [
        "there is no route table of vpc-1 yet",
        "then: bash bash --from endpoint",
    ]
