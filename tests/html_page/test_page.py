"""The page of a report: one file that loads nothing, and in which no text of a spec is markup."""

from __future__ import annotations

import base64
import hashlib
import re
import shutil
from itertools import pairwise
from pathlib import Path

import pytest
import yaml
from builders import ROOT, spec
from running import EXAMPLE, Command
from trainyard.extensions.forecast.simulate.verdict import Kind
from trainyard.extensions.review.html.page import Ids, unfinished
from trainyard.extensions.review.html.page import page as page_of
from trainyard.language.diagnostics import Diagnostic, Severity

from html_page.reading import Element, read

pytestmark = pytest.mark.slow

HOSTILE = "</td><script>alert('x')</script> & `tick` <b>"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    shutil.copytree(EXAMPLE / "specs", tmp_path / "specs")
    return tmp_path


def html(trainyard: Command, folder: Path, *paths: str, code: int = 0) -> str:
    done = trainyard("report", *(paths or ("specs",)), "--format", "html", cwd=folder)
    assert done.code == code, done.err
    return done.out


def values(page: Element, attribute: str) -> list[str]:
    found = [element.attributes.get(attribute) for element in page.all()]
    return [value for value in found if value is not None]


def test_every_cluster_has_the_sections_of_its_markdown(
    trainyard: Command, whole_page: str
) -> None:
    page = read(whole_page)
    markdown = trainyard("report", "specs", cwd=EXAMPLE).out
    clusters = [each.text for each in page.all("h2")]
    assert clusters == re.findall("^# (.+)$", markdown, re.MULTILINE)
    titles = {each.text for each in page.all("h3")}
    assert set(re.findall("^## (.+)$", markdown, re.MULTILINE)) <= titles
    assert titles > {"Topology", "Decisions"}


def test_the_page_is_the_same_each_time(trainyard: Command, whole_page: str) -> None:
    assert html(trainyard, EXAMPLE) == whole_page


def test_ids_are_unique_and_links_lead_to_them(whole_page: str) -> None:
    page = read(whole_page)
    ids = values(page, "id")
    assert len(ids) == len(set(ids))
    links = values(page, "href")
    assert links
    assert all(link.startswith("#") and link[1:] in ids for link in links)
    assert set(values(page, "aria-labelledby")) <= set(ids)


def test_verdicts_other_than_that_a_job_fits_stand_out(whole_page: str) -> None:
    words = [str(kind) for kind in Kind]
    cells = [cell for cell in read(whole_page).all("td") if cell.text in words]
    assert {cell.text for cell in cells} > {Kind.FITS}
    for cell in cells:
        assert bool(list(cell.all("strong"))) == (cell.text != Kind.FITS), cell.text


def test_nothing_is_loaded_and_the_policy_allows_only_what_is_there(whole_page: str) -> None:
    page = read(whole_page)
    assert not values(page, "src")
    assert not values(page, "style")
    assert not [name for each in page.all() for name in each.attributes if name.startswith("on")]
    (style,) = page.all("style")
    (script,) = page.all("script")
    for loads in ("url(", "@import", "fetch(", "XMLHttpRequest", "import("):
        assert loads not in style.text + script.text
    policy = next(each for each in page.all("meta") if "http-equiv" in each.attributes)
    assert policy.attributes["content"] == (
        f"default-src 'none'; style-src {hashed(style)}; script-src {hashed(script)}; "
        "base-uri 'none'; form-action 'none'"
    )


def hashed(element: Element) -> str:
    digest = hashlib.sha256(element.text.encode()).digest()
    return f"'sha256-{base64.b64encode(digest).decode()}'"


def test_tables_have_a_caption_and_headers_of_columns_and_rows(whole_page: str) -> None:
    page = read(whole_page)
    tables = list(page.all("table"))
    assert len(tables) > 20
    for table in tables:
        assert next(table.all("caption")).text
        head, *rows = table.all("tr")
        columns = [cell.text for cell in head.children]
        assert all(columns)
        assert {cell.attributes["scope"] for cell in head.all("th")} == {"col"}
        for row in rows:
            assert len(row.children) == len(columns)
            assert row.children[0].attributes["scope"] == "row"


def test_headings_leave_no_level_out(whole_page: str) -> None:
    page = read(whole_page)
    levels = [int(each.name[1]) for each in page.all("h1", "h2", "h3", "h4")]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(after <= before + 1 for before, after in pairwise(levels))


def test_texts_of_a_spec_are_no_markup(trainyard: Command, tmp_path: Path) -> None:
    (tmp_path / "lab.yaml").write_text(yaml.safe_dump(spec(pool={"instanceTypes": [HOSTILE]})))
    page = read(html(trainyard, tmp_path, "lab.yaml", code=1))
    assert len(list(page.all("script"))) == 1
    assert not list(page.all("b"))
    assert "</td><script>alert('x')" in next(page.all("table")).text


@pytest.mark.parametrize("place", ["code", "message", "help"])
def test_texts_of_findings_are_no_markup(place: str) -> None:
    """Those of an adopter's rules and of exceptions hold what people write."""
    texts = {"code": "ORG001", "message": "a message", "help": "a help", place: HOSTILE}
    ids = Ids()
    found = [Diagnostic(severity=Severity.ERROR, **texts)]  # type: ignore[arg-type]
    text = page_of([unfinished("lab", found, ids)])
    cell = next(each for each in read(text).all("td") if "alert" in each.text)
    assert cell.text == HOSTILE.replace("`", "")
    assert [each.name for each in cell.children] == ["code"]


def test_a_spec_in_error_has_its_findings(trainyard: Command, folder: Path) -> None:
    (folder / "specs" / "two-teams.yaml").write_text("kind: TrainingCluster\nnonsense: <b>\n")
    page = read(html(trainyard, folder, "specs/two-teams.yaml", code=1))
    assert "YML030" in next(page.all("table")).text
    assert not list(page.all("b"))


def test_numbers_say_what_they_are_made_of(trainyard: Command, folder: Path) -> None:
    page = read(html(trainyard, folder, "specs/two-teams.yaml"))
    reasons = {each.text for each in page.all("details") if each.attributes.get("class") == "why"}
    assert "≈ 73.001 × $0.1000 an hour each × 730 hours" in reasons


def test_the_nodes_of_a_pool_have_the_jobs_of_the_simulation(
    trainyard: Command, folder: Path
) -> None:
    page = read(html(trainyard, folder, "specs/two-teams.yaml"))
    drawings = [
        each.attributes["aria-label"] for each in page.all("svg") if "role" in each.attributes
    ]
    assert drawings == ["h100: 12 nodes at most, 2 with finetune, 8 with pretrain, 2 free"]


def test_a_job_that_is_placed_nowhere_is_named(trainyard: Command, folder: Path) -> None:
    path = folder / "specs" / "two-teams.yaml"
    path.write_text(path.read_text().replace("nodes: {max: 12}", "nodes: {max: 9}"))
    page = read(html(trainyard, folder, "specs/two-teams.yaml", code=1))
    named = [each.text for each in page.all("p") if "not placed" in each.text]
    assert len(named) == 1
    assert "finetune (2)" in named[0]


def test_what_the_merge_does_is_on_a_tile(trainyard: Command, folder: Path) -> None:
    assert trainyard("compile", "specs/two-teams.yaml", cwd=folder).code == 0
    path = folder / "specs" / "two-teams.yaml"
    assert "changes nothing" in tiles(html(trainyard, folder, "specs/two-teams.yaml"))["The merge"]
    path.write_text(path.read_text().replace("max: 12", "max: 16"))
    shown = tiles(html(trainyard, folder, "specs/two-teams.yaml"))
    assert "changes cost or quota" in shown["The merge"]
    assert shown["Findings"] == "1 warning"


def test_what_the_merge_costs_is_on_a_tile(trainyard: Command, folder: Path) -> None:
    base = folder / "base"
    shutil.copytree(folder / "specs", base / "specs")
    path = "specs/two-teams.yaml"
    assert trainyard("compile", path, cwd=base).code == 0
    against = (path, "--against", "base/generated")
    assert tiles(html(trainyard, folder, *against))["Cost"].partition(" while jobs run")[2] == (
        " as before"
    )
    (folder / path).write_text((folder / path).read_text().replace("max: 12", "max: 16"))
    assert " by the merge: +$" in tiles(html(trainyard, folder, *against))["Cost"]
    assert " by the merge" not in tiles(html(trainyard, folder, path))["Cost"]


def test_a_file_that_says_the_same_in_other_words_is_a_file(
    trainyard: Command, folder: Path
) -> None:
    assert trainyard("compile", "specs/starter.yaml", cwd=folder).code == 0
    file = folder / "generated" / "starter" / "platform" / "namespace-training.yaml"
    file.write_text(f"{file.read_text()}# by hand\n")
    shown = tiles(html(trainyard, folder, "specs/starter.yaml"))
    assert shown["The merge"] == "changes 1 file"


def test_without_jobs_none_fits(trainyard: Command, tmp_path: Path) -> None:
    (tmp_path / "lab.yaml").write_text(yaml.safe_dump(spec(jobs=[])))
    text = html(trainyard, tmp_path, "lab.yaml")
    assert "Jobs at once" not in tiles(text)
    assert "Admission" not in {each.text for each in read(text).all("h3")}


def test_a_time_in_which_nothing_ends_is_not_drawn(trainyard: Command, tmp_path: Path) -> None:
    """The job never starts, so there is no end to draw it to."""
    data = spec(pool={"nodes": {"max": 2}}, job={"timeout": "5h"})
    (tmp_path / "lab.yaml").write_text(yaml.safe_dump(data))
    page = read(html(trainyard, tmp_path, "lab.yaml", code=1))
    assert "Timeline" in {each.text for each in page.all("h3")}
    assert not [each for each in page.all("figure") if "last known end" in each.text]


def test_clusters_whose_names_end_like_sections_have_ids_of_their_own() -> None:
    ids = Ids()
    assert ids(ids("cluster", "lab"), "Cost") == "cluster-lab-cost"
    assert [ids("cluster", "lab-cost"), ids("cluster", "lab.cost")] == [
        "cluster-lab-cost-2",
        "cluster-lab-cost-3",
    ]


def tiles(text: str) -> dict[str, str]:
    found = {}
    for each in read(text).all("dl"):
        if each.attributes.get("class") == "tiles":
            for tile in each.children:
                title, *words = tile.children
                found[title.text] = " ".join(word.text for word in words)
    return found


def test_the_largest_spec_stays_small(trainyard: Command) -> None:
    """docs/report.md gives the sizes."""
    done = trainyard("report", "specs", "--format", "html", cwd=ROOT)
    assert len(done.out.encode()) < 700_000


def test_options_that_do_not_go_together_are_wrong_usage(trainyard: Command, folder: Path) -> None:
    for options in (
        ("--format", "pdf"),
        ("--format", "html", "--limit", "20000"),
        ("--format", "html", "--against", "parallelCluster"),
        ("--format", "html", "--why", "cost"),
        ("--limit", "20000", "--why", "cost"),
        ("--why", "no such words anywhere"),
    ):
        done = trainyard("report", "specs/two-teams.yaml", *options, cwd=folder)
        assert (done.code, done.out) == (2, ""), options
        assert done.err.startswith("trainyard: ")


def test_a_number_is_asked_why(trainyard: Command, folder: Path) -> None:
    done = trainyard("report", "specs/two-teams.yaml", "--why", "Cost CONTROL always", cwd=folder)
    assert done.out.splitlines() == [
        "two-teams",
        "  Cost: control plane, always, USD a month: ≈ 73.00: 1 × $0.1000 an hour each × 730 hours",
    ]
    done = trainyard("report", "specs/two-teams.yaml", "--why", "pool/h100 efa", cwd=folder)
    assert "Decisions: pool/h100, efa: 32: p5.48xlarge has 32 EFA devices" in done.out
