"""The documentation is true: what is generated is current, what is shown was printed, what is an example compiles."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import yaml
from forks import forks
from running import ROOT, SPECS, Command, copied, snapshot
from trainyard.judge.policy.load import load_rules
from trainyard.language.places import SourceFile
from trainyard.language.source.parse import parse

from docs.console import FILES, PASTED, prepare, refreshed
from docs.generate import AREAS, DOCS, generated, unknown

PAGES = sorted([*ROOT.glob("*.md"), *DOCS.rglob("*.md")])
RIDDLES = re.compile(r"\b(tells of|mended|strangers?|folk|whilst|hence|thereof)\b", re.IGNORECASE)
HEADER = (
    "apiVersion: trainyard.dev/v1alpha1\nkind: TrainingCluster\nmetadata: {name: pools}\nspec:\n"
    '  account: "111122223333"\n  region: us-west-2\n  nodePools:\n'
)


def blocks(path: Path, language: str) -> list[str]:
    return re.findall(
        rf"^```{language}\n(.*?)^```$", path.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL
    )


@pytest.mark.slow
def test_generated_pages_are_current() -> None:
    """`make docs` would change nothing."""
    files = generated()
    assert [
        path for path, text in files.items() if (DOCS / path).read_text(encoding="utf-8") != text
    ] == []
    assert unknown(files) == []


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What a fresh clone has: all example specs, compiled by `trainyard` as a process of its own. Each later run of
    it is a fork."""
    folder = tmp_path_factory.mktemp("prepared")
    prepare(folder)
    (folder / "bin" / "trainyard").write_text(forks().program())
    return folder


@pytest.fixture
def clone(prepared: Path, tmp_path: Path) -> Path:
    return copied(prepared, tmp_path / "clone")


@pytest.mark.slow
@pytest.mark.parametrize("name", FILES)
def test_console_blocks_are_what_is_printed(name: str, clone: Path) -> None:
    """Every command of every block, run anew: `make docs` would change nothing. Blocks that are pasted are run in one
    shell, in their order."""
    before = snapshot(clone)
    text = (ROOT / name).read_text(encoding="utf-8")
    assert blocks(ROOT / name, "console") or PASTED.findall(text)
    assert refreshed(text, clone).splitlines() == text.splitlines()
    if name == "README.md":
        assert snapshot(clone) == before, "the commands leave a clone as it was"


@pytest.mark.parametrize("name", ["README.md", "docs/tutorial.md"])
def test_blocks_can_be_pasted(name: str) -> None:
    """All that run anywhere print what stands below them, as the test above says. A prompt in a block would be a
    command that is not found."""
    text = (ROOT / name).read_text(encoding="utf-8")
    assert blocks(ROOT / name, "console") == []
    assert len(PASTED.findall(text)) >= 3
    for block in blocks(ROOT / name, "sh"):
        assert not re.search(r"^[$>] ", block, re.MULTILINE), block


def test_the_readme_shows_input_output_and_a_mistake_on_its_first_screen() -> None:
    screen = "\n".join((ROOT / "README.md").read_text(encoding="utf-8").splitlines()[:88])
    assert "kind: TrainingCluster" in screen
    assert "generated/starter: " in screen
    assert "error[PLC003]" in screen
    assert "= help: keep one of `zones`" in screen


@pytest.mark.slow
def test_examples_of_the_spec_language_compile(trainyard: Command, tmp_path: Path) -> None:
    """The blocks of spec.md, as the files that their text says they are."""
    texts = [
        text
        for text in blocks(DOCS / "spec.md", "yaml")
        if not text.startswith("# yaml-language-server")
    ]
    cluster = next(
        text for text in texts if "kind: TrainingCluster\nmetadata: {name: research}" in text
    )
    names = []
    for number, text in enumerate(texts):
        kind = re.search(r"^kind: (\w+)$", text, re.MULTILINE)
        if text.startswith("spec:"):
            name, text = (f"part-{number}/spec.yaml", with_part(cluster, text, f"part-{number}"))
        elif kind is None:
            name, text = (
                "pools/spec.yaml",
                HEADER + re.sub(r"^", "    ", text, flags=re.MULTILINE),
            )
        elif kind[1] == "TrainingClusterBase":
            name = "small/base.yaml"
        elif "extends:" in text:
            name = "small/spec.yaml"
        else:
            name = f"research/{number}.yaml"
        names.append(name)
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    assert len(set(names)) == len(texts) == 12
    done = trainyard("check", ".", cwd=tmp_path)
    assert (done.out, done.code) == ("", 0)
    clusters = {name.partition("/")[0] for name in names}
    assert sorted(done.err.removeprefix("clean: ").strip().split(", ")) == sorted(clusters)


def with_part(cluster: str, part: str, name: str) -> str:
    """A cluster of another name, with a part of a spec in the place of its own."""
    whole = yaml.safe_load(cluster)
    whole["metadata"]["name"] = name
    whole["spec"].update(yaml.safe_load(part)["spec"])
    return yaml.safe_dump(whole)


@pytest.mark.slow
def test_settings_in_the_policy_page_are_read(trainyard: Command, tmp_path: Path) -> None:
    """policy.yaml, exceptions.yaml and the Python rule, put where their first line says."""
    for language in ("yaml", "python"):
        for text in blocks(DOCS / "policies.md", language):
            path = tmp_path / text.splitlines()[0].removeprefix("# ")
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
    rules, faults = load_rules(tmp_path / "policies")
    assert not faults
    assert "ORG002" in {each.code for each in rules}
    done = trainyard(
        "check",
        SPECS / "jakarta",
        "--policies",
        tmp_path / "policies",
        "--output",
        tmp_path / "generated",
        "--format",
        "github",
    )
    assert "title=POL001::no finding of `PLC006` needs this exception" in done.out
    assert done.out.count("::") == 2
    rule = tmp_path / "policies" / "org" / "too_many_nodes.py"
    rule.write_text(
        rule.read_text().replace('"nodes": 64', '"nodes": 13 ')
    )  # of another size, so that its bytecode is made anew
    done = trainyard(
        "check", SPECS / "jakarta", "--policies", tmp_path / "policies", "--format", "github"
    )
    assert "timor.yaml" in done.out
    assert "title=ORG002::job `timor`" in done.out


def test_every_area_has_a_title() -> None:
    pages = {path.stem.upper() for path in (DOCS / "rules").glob("*.md")} - {"README"}
    assert pages <= set(AREAS)


@pytest.mark.slow
@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_links_lead_somewhere(path: Path) -> None:
    """Files that a page names exist, and the headings that it points at."""
    for target in re.findall(r"\]\(([^)\s]+)\)", path.read_text(encoding="utf-8")):
        file, _, anchor = target.partition("#")
        if "://" in file:
            continue
        page = path.parent / file if file else path
        assert page.exists(), target
        if anchor:
            headings = re.findall(r"^#+ (.+)$", page.read_text(encoding="utf-8"), re.MULTILINE)
            assert anchor in {
                re.sub(r"[^a-z0-9 -]", "", each.lower()).replace(" ", "-") for each in headings
            }, target


def test_the_makefile_targets_in_the_docs_exist() -> None:
    known = set(re.findall(r"^([a-z-]+):.*## ", (ROOT / "Makefile").read_text(), re.MULTILINE))
    for path in PAGES:
        for target in re.findall(r"`make ([a-z-]+)", path.read_text(encoding="utf-8")):
            assert target in known, f"{path.name}: make {target}"


def test_yaml_blocks_are_yaml() -> None:
    """In every page, whatever they are about."""
    for path in (*ROOT.glob("*.md"), *DOCS.glob("*.md")):
        for text in blocks(path, "yaml"):
            if not text.startswith("# yaml-language-server"):
                assert parse(SourceFile(path.name, text))[1] == [], path.name


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_a_page_is_in_plain_standard_english(page: Path) -> None:
    """Findings are *reported*, faults *fixed*, others' manifests *third-party* (docs/words.md)."""
    text = re.sub(r"```.*?```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    assert RIDDLES.findall(text) == []
