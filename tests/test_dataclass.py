"""Trainyard's frozen dataclass against the standard one."""

from __future__ import annotations

import copy
import dataclasses
import inspect
import pickle
from typing import Any

import pytest
from trainyard.core.storage.plan import VolumeClaim
from trainyard.language.dataclass import dataclass
from trainyard.language.units import Quantity


def classes(make: Any) -> tuple[type, type]:
    """A class with every sort of field, and one that inherits them."""

    @make(frozen=True, slots=True, kw_only=True)
    class Base:
        """A base."""

        at: str = dataclasses.field(default="here", compare=False, repr=False)
        seen: dict[str, int] = dataclasses.field(default_factory=dict)

    @make(frozen=True, slots=True)
    class Node(Base):
        """A node."""

        name: str
        count: int = 1

    return Base, Node


OURS, STANDARD = classes(dataclass)[1], classes(dataclasses.dataclass)[1]
ARGUMENTS: list[tuple[tuple[Any, ...], dict[str, Any]]] = [
    (("a",), {}),
    (("a", 2), {}),
    (("a",), {"count": 2}),
    (("b",), {"at": "there"}),
    (("a",), {"seen": {"x": 1}}),
]


def test_it_is_made_with_the_same_arguments() -> None:
    for wrong in ((), ("a", 1, "there")):
        for each in (OURS, STANDARD):
            with pytest.raises(TypeError, match=r"Node\.__init__\(\) "):
                each(*wrong)
    assert OURS("a").seen is not OURS("a").seen


@pytest.mark.parametrize("made_before", [0, 1, 100])
def test_the_first_objects_and_those_after_them_are_the_same(made_before: int) -> None:
    """The first ones are filled field by field; what makes the others is compiled when they are many."""
    ours, standard = classes(dataclass)[1], classes(dataclasses.dataclass)[1]
    for _ in range(made_before):
        ours("a")
    for one, keys in ARGUMENTS:
        assert repr(ours(*one, **keys)) == repr(standard(*one, **keys))
    wrong: list[tuple[tuple[Any, ...], dict[str, Any]]] = [
        ((), {}),
        (("a", 1, "there"), {}),
        (("a",), {"name": "b"}),
        (("a",), {"nmae": "b"}),
    ]
    for one, keys in wrong:
        with pytest.raises(TypeError) as problem:
            standard(*one, **keys)
        with pytest.raises(TypeError) as same:
            ours(*one, **keys)
        assert str(same.value).split("__init__")[1] == str(problem.value).split("__init__")[1]


def test_those_that_are_compiled_have_the_signature() -> None:
    ours, standard = classes(dataclass)[1], classes(dataclasses.dataclass)[1]
    for _ in range(100):
        ours("a")
    assert (
        inspect.signature(ours).parameters.keys() == inspect.signature(standard).parameters.keys()
    )


def test_it_compares_and_is_told_as_the_standard_one() -> None:
    for one, keys in ARGUMENTS:
        assert repr(OURS(*one, **keys)) == repr(STANDARD(*one, **keys))
        for two, others in ARGUMENTS:
            assert (OURS(*one, **keys) == OURS(*two, **others)) == (
                STANDARD(*one, **keys) == STANDARD(*two, **others)
            )
    assert OURS("a") != STANDARD("a")
    assert OURS("a") != classes(dataclass)[1]("a")


def test_equal_ones_hash_alike() -> None:
    node = classes(dataclass)[0]
    assert hash(node(seen=(), at="x")) == hash(node(seen=(), at="y"))
    assert len({node(seen=()), node(seen=(1,)), node(seen=(), at="y")}) == 2


def test_nothing_of_it_can_be_changed() -> None:
    node = OURS("a")
    with pytest.raises(dataclasses.FrozenInstanceError, match="name"):
        node.name = "b"
    with pytest.raises(dataclasses.FrozenInstanceError, match="name"):
        del node.name
    with pytest.raises(dataclasses.FrozenInstanceError):
        node.other = "b"
    assert not hasattr(node, "__dict__")


def test_the_tools_of_dataclasses_work_on_it() -> None:
    node = OURS("a", seen={"x": 1})
    assert dataclasses.replace(node, count=3) == OURS("a", 3, seen={"x": 1})
    assert [each.name for each in dataclasses.fields(node)] == [
        each.name for each in dataclasses.fields(STANDARD)
    ]
    assert dataclasses.asdict(node) == {"at": "here", "seen": {"x": 1}, "name": "a", "count": 1}


def test_its_annotations_stay() -> None:
    assert OURS.__annotations__ == STANDARD.__annotations__
    types = [field.type for field in dataclasses.fields(OURS)]
    assert types == [field.type for field in dataclasses.fields(STANDARD)]


def test_it_can_be_copied_and_pickled() -> None:
    node = OURS("a", seen={"x": 1})
    again = copy.deepcopy(node)
    assert again == node
    assert again.seen is not node.seen
    claim = VolumeClaim(name="data", namespace="team", volume="data", size=Quantity.parse("1Ti"))
    assert pickle.loads(pickle.dumps(claim)) == claim


def test_own_methods_stay() -> None:
    @dataclass(frozen=True, slots=True)
    class Secret:
        value: str

        def __repr__(self) -> str:
            return "hidden"

    assert repr(Secret("x")) == "hidden"
    assert Secret("x") == Secret("x")


def changing(make: Any) -> type:
    """A class that may change, with a field that it fills by itself, and one with a default that nobody gives."""

    @make(slots=True)
    class Counter:
        """A counter."""

        name: str
        seen: list[int] = dataclasses.field(default_factory=list)
        twice: str = dataclasses.field(init=False)
        total: int = dataclasses.field(default=0, init=False, compare=False)

        def __post_init__(self) -> None:
            self.twice = self.name * 2

    return Counter


@pytest.mark.parametrize("made_before", [0, 100])
def test_what_may_change_is_as_the_standard_one(made_before: int) -> None:
    shown = []
    for kind in (changing(dataclass), changing(dataclasses.dataclass)):
        for _ in range(made_before):
            kind("a")
        counter = kind("a", seen=[1])
        counter.total = 3
        with pytest.raises(TypeError):
            hash(counter)
        with pytest.raises(TypeError):
            kind("a", twice="b")
        assert counter == kind("a", [1])
        counter.seen.append(2)
        assert counter != kind("a", [1])
        assert copy.deepcopy(counter) == counter
        shown.append(repr(counter))
    assert shown[0] == shown[1]
    assert "twice='aa', total=3" in shown[0]


def ordered(make: Any) -> Any:
    """A class with an order."""

    @make(frozen=True, slots=True, order=True)
    class Size:
        """A size."""

        mib: int
        name: str = ""

    return Size


def test_what_has_an_order_is_as_the_standard_one() -> None:
    orders = []
    for size in (ordered(dataclass), ordered(dataclasses.dataclass)):
        orders.append(str(sorted([size(2), size(1, "b"), size(1, "a")])))
        assert size(1) < size(2)
        assert size(2) <= size(2)
        assert size(2) > size(1, "x")
        assert size(1) >= size(1)
        with pytest.raises(TypeError, match="not supported"):
            sorted([size(1), 1])
    assert orders[0] == orders[1]


def test_a_mutable_one_with_a_hash_has_it_by_its_fields() -> None:
    @dataclass(slots=True, unsafe_hash=True)
    class Span:
        """A span."""

        line: int

    span = Span(1)
    span.line = 2
    assert hash(span) == hash(Span(2))


def test_a_field_that_is_hashed_otherwise_than_compared_is_refused() -> None:
    class Odd:
        """One that leaves a field out of its hash alone."""

        name: dict[str, str] = dataclasses.field(default_factory=dict, hash=False)

    with pytest.raises(TypeError, match="`name` is hashed otherwise than compared"):
        dataclass(frozen=True)(Odd)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("dataclasses.InitVar[int]", "`name` is no field"),
        ("dataclasses.KW_ONLY", "`name` is no field"),
    ],
)
def test_what_is_no_field_is_refused(text: str, words: str) -> None:
    odd = type("Odd", (), {"__annotations__": {"name": text}})
    with pytest.raises(TypeError, match=words):
        dataclass(frozen=True)(odd)


def test_a_default_that_may_change_is_refused() -> None:
    odd = type("Odd", (), {"__annotations__": {"name": "list[int]"}, "name": []})
    with pytest.raises(TypeError, match="`name` has a default that may change"):
        dataclass(frozen=True)(odd)


def test_a_default_of_a_field_stays_one_of_the_class() -> None:
    @dataclass(frozen=True)
    class Named:
        """One field whose default is said by ``field``."""

        name: str = dataclasses.field(default="a", compare=False)

    assert Named.name == "a"
    assert Named() == Named("b")
    with pytest.raises(dataclasses.FrozenInstanceError):
        Named().name = "b"  # type: ignore[misc]
