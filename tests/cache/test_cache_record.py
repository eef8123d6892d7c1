"""What a run saw of the disk, and whether that is all that it went by."""

from __future__ import annotations

from trainyard.disk.inputs import FILE, Record


def test_what_changes_while_it_is_read_is_no_input_of_a_run_that_can_be_repeated() -> None:
    record = Record()
    record.note(FILE, "a.yaml", "one", None)
    record.note(FILE, "a.yaml", "one", None)
    assert record.whole
    record.note(FILE, "a.yaml", "two", None)
    assert not record.whole


def test_what_a_part_saw_is_seen_by_the_whole() -> None:
    record, part = Record(), Record()
    record.note(FILE, "a.yaml", "one", None)
    part.note(FILE, "b.yaml", "one", None)
    record.add(part)
    assert record.whole
    assert [path for _, path, *_ in record.items()] == ["a.yaml", "b.yaml"]
    part.note(FILE, "a.yaml", "two", None)
    record.add(part)
    assert not record.whole
