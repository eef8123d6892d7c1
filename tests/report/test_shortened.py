"""Reports that are too long: which sections are there, in which order, and that none is cut."""

from __future__ import annotations

import re

from trainyard.extensions.review.report.shortened import Report, Section, joined, shortened


def section(title: str, size: int) -> Section:
    return Section((title,), f"## {title}\n\n{'x' * size}\n\n")


def report(name: str, first: int, rest: int, *, changed: bool = True) -> Report:
    return Report(
        f"# {name}\n\n",
        (section(f"First of {name}", first),),
        (section(f"Second of {name}", rest), section(f"Third of {name}", rest)),
        line=f"- **{name}**: a line",
        changed=changed,
    )


def titles(text: str) -> list[str]:
    return re.findall("^## (.+)$", text, re.MULTILINE)


def test_what_fits_is_whole_with_the_rest_folded() -> None:
    one = report("one", 10, 10)
    text = shortened([one], 10_000, "")
    assert text == joined([one])
    assert text == (
        "# one\n\n## First of one\n\nxxxxxxxxxx\n\n"
        "<details><summary>Second of one, Third of one</summary>\n\n"
        "## Second of one\n\nxxxxxxxxxx\n\n## Third of one\n\nxxxxxxxxxx\n\n</details>\n"
    )


def test_the_open_part_of_every_changed_cluster_comes_before_the_rest_of_any() -> None:
    reports = [report("one", 100, 5_000), report("two", 100, 5_000), report("three", 100, 100)]
    text = shortened(reports, 7_000, "https://ci.example/1")
    assert len(text.encode()) <= 7_000
    assert titles(text) == [
        *("First of one", "Second of one"),
        "First of two",
        *("First of three", "Second of three", "Third of three"),
    ]
    assert "\nLeft out: Third of one.\n" in text
    assert "\nLeft out: Second of two, Third of two.\n" in text
    assert text.count("<details>") == text.count("</details>") == 2
    assert text.endswith("[the whole report](https://ci.example/1).\n")


def test_a_cluster_that_did_not_change_is_whole_or_a_line() -> None:
    same = report("same", 1_000, 5_000, changed=False)
    text = shortened([same, report("new", 1_000, 1_000)], 9_000, "")
    assert titles(text) == ["First of new", "Second of new", "Third of new"]
    assert "# Left out here\n\n- **same**: a line\n" in text


def test_an_open_part_that_is_too_long_gives_way_to_one_that_fits() -> None:
    text = shortened([report("long", 50_000, 1), report("short", 10, 10)], 10_000, "")
    assert titles(text) == ["First of short", "Second of short", "Third of short"]
    assert "- **long**: a line" in text


def test_of_a_single_report_that_is_too_long_the_first_sections_are_there() -> None:
    sections = tuple(section(f"Part {number}", 4_000) for number in range(5))
    text = shortened([Report("# one\n\n", sections)], 10_000, "")
    assert titles(text) == ["Part 0", "Part 1"]
    assert "Left out: Part 2, Part 3, Part 4.\n" in text


def test_clusters_that_are_left_out_have_a_line_up_to_a_number() -> None:
    long = report("long", 50_000, 1)
    text = shortened([report("short", 10, 10), *[long] * 53], 10_000, "")
    assert text.count("- **long**: a line\n") == 50
    assert "\n- and 3 more\n" in text
    assert "more\n" not in shortened([report("short", 10, 10), *[long] * 50], 10_000, "")
