"""The command as a fixture; and the same generated examples in every run."""

from __future__ import annotations

import gc
import os
import re
import tempfile
from collections.abc import Callable, Generator, Iterator
from functools import cache
from pathlib import Path

import pytest
from drawn import OPTION, Walk, examples_of
from hypothesis import HealthCheck, settings
from one_cdk8s import OneCdk8s
from running import CACHE_VARIABLE, NO_CACHE, Command, Run
from trainyard.catalog import Catalog, load_catalog
from trainyard.catalog.failure_rates import FailureRates
from trainyard.plan.features import extensions
from trainyard.plan.shipped import COMMANDS, KEYS, RULES, TOOLS

# A run on main must not fail by a new example: `make test ARGS=--hypothesis-profile=default` looks for those.
# Two cores may be busy with something else: what a draw takes says nothing.
slow = [HealthCheck.too_slow]
os.environ[CACHE_VARIABLE] = NO_CACHE  # of the processes that tests start

MEMORY = "/dev/shm"
"""Where Linux keeps files in memory."""
ENOUGH = 4 << 30
"""Bytes that must be free there. A run of all tests writes less than one GiB; most containers have 64 MiB."""

ABSENT = {RULES, *COMMANDS.values(), *KEYS.values(), *TOOLS.values()} - set(extensions())
"""Extensions that come with Trainyard, and are not there: none, but in a copy without them."""
_OF_EXTENSION = re.compile(r"(?:trainyard\.extensions|tests\.platforms)\.(\w+)")
_IMPORTED = re.compile(r"^(?:from|import) ([\w.]+)", re.MULTILINE)
TESTS = Path(__file__).parent
LONGEST = ("tests/platforms/test_taken.py", "tests/policy/test_same_keys.py")
"""Files whose tests take ten seconds each."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """What takes longest comes first: at the end one worker would run it, and the others would wait. In a copy without
    an extension (``make test-kernel``) what needs it is left out."""
    items[:] = [item for item in items if not ABSENT & needed_by(item)]
    items.sort(key=lambda item: not item.nodeid.startswith(LONGEST))


def needed_by(item: pytest.Item) -> set[str]:
    """The extensions that a test says it needs."""
    return {name for mark in item.iter_markers("needs") for name in mark.args}


@cache
def imported_by(path: Path) -> frozenset[str]:
    """The extensions that a file of tests imports, or another one that it imports."""
    text = path.read_text(encoding="utf-8")
    found = set(_OF_EXTENSION.findall(text))
    for module in _IMPORTED.findall(text):
        name = f"{module.removeprefix('tests.').replace('.', '/')}.py"
        for folder in (path.parent, TESTS):
            if (folder / name).is_file():
                found |= imported_by(folder / name)
    return frozenset(found)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(OPTION, action="store_true", help="walk over every case of the tests of kinds")


def pytest_configure(config: pytest.Config) -> None:
    """Tests of kinds walk over a part of their cases, or over all of them.

    Temporary folders are in memory where there is room: tests that compile wait for the disk otherwise.

    Those of tests that fail stay, as pytest keeps them; all else that a run makes goes when it ends.
    """
    Walk.every = config.getoption(OPTION)
    settings.register_profile(
        "fixed",
        derandomize=True,
        deadline=None,
        max_examples=examples_of(100),
        suppress_health_check=slow,
    )
    settings.load_profile("fixed")
    if "TMPDIR" in os.environ or config.option.basetemp or not os.path.isdir(MEMORY):
        return
    found = os.statvfs(MEMORY)
    room = found.f_bavail * found.f_frsize
    if room > ENOUGH and not found.f_flag & os.ST_NOEXEC and os.access(MEMORY, os.W_OK):
        folder = tempfile.TemporaryDirectory(
            prefix="tests-", dir=MEMORY, ignore_cleanup_errors=True
        )
        config.add_cleanup(folder.cleanup)
        os.environ["TMPDIR"] = folder.name
        os.environ["PYTEST_DEBUG_TEMPROOT"] = MEMORY
        tempfile.tempdir = None  # what was found before


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """What is imported and collected stays until the end: the collector looks at it neither now nor later.

    A compilation keeps nearly all that it creates until it ends: after 700 objects, as Python has it, there is little
    to find, and to look takes a twentieth of the time.
    """
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.set_threshold(100_000, 20, 100)
        gc.enable()


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """`make test-fast` does not import a file whose tests are all slow, nor a copy one that imports what it lacks."""
    if collection_path.suffix != ".py":
        return None
    if ABSENT and ABSENT & imported_by(collection_path):
        return True
    if config.option.markexpr != "not slow":
        return None
    all_slow = "\npytestmark = pytest.mark.slow\n" in collection_path.read_text(encoding="utf-8")
    return all_slow or None


@pytest.fixture(scope="session")
def one_cdk8s() -> Iterator[type[OneCdk8s]]:
    """What compilations of this process use, until the last test has ended."""
    yield OneCdk8s
    OneCdk8s.end()


@pytest.fixture(scope="module")
def two_failure_rates() -> Iterator[None]:
    """The two rates by which numbers of tests were computed by hand: a third one that is published changes none."""
    known = {rate.name: rate for rate in load_catalog().failure_rates.rates}
    two = FailureRates((known["Llama 3 405B"], known["Meta RSC-1"]))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Catalog, "failure_rates", property(lambda catalog: two))
        yield


@pytest.fixture(scope="session")
def compile_once(one_cdk8s: type[OneCdk8s]) -> Callable[..., None]:
    """Compile in a folder, in this process: for fixtures that several tests share."""

    def run(folder: Path, *specs: str) -> None:
        from trainyard.cli.main import main

        with pytest.MonkeyPatch.context() as patched:
            patched.setattr("trainyard.output.synthesis.Synthesis", one_cdk8s)
            patched.chdir(folder)
            assert main(["compile", *specs]) == 0

    return run


@pytest.fixture
def trainyard(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    one_cdk8s: type[OneCdk8s] | None,
) -> Command:
    """Run ``trainyard`` in this process, in a folder."""

    if one_cdk8s is not None:
        monkeypatch.setattr("trainyard.output.synthesis.Synthesis", one_cdk8s)

    def run(*arguments: object, cwd: Path | None = None) -> Run:
        from trainyard.cli.main import main

        if cwd is not None:
            monkeypatch.chdir(cwd)
        capsys.readouterr()
        code = main([str(each) for each in arguments])
        return Run(code, *capsys.readouterr())

    return run
