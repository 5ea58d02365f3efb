"""tools/fuzz: random programs of the API run without a death, and a death is found and shrunk."""

import signal
import sys
import time
from pathlib import Path

import pytest

FUZZERS = Path(__file__).resolve().parents[2] / "tools/fuzz"
pytestmark = pytest.mark.skipif(not FUZZERS.exists(), reason="the package is no tree's")


@pytest.fixture(scope="module", autouse=True)
def fuzzers_on_path():
    sys.path.insert(0, str(FUZZERS))
    yield
    sys.path.remove(str(FUZZERS))


def test_random_programs_do_not_die_and_a_fourth_of_their_statements_raises_nothing():
    from fuzz_python import Runner
    from python_statements import Statements

    for seed in range(3):
        statements = Statements(seed, [])
        ending = Runner().run([statements.statement() for _ in range(300)])
        assert ending.died == 0
        assert ending.passed > 75


def test_the_same_seed_draws_the_same_statements():
    from python_statements import Statements

    first, second, other = (Statements(seed, []) for seed in (5, 5, 6))
    drawn = [[statements.statement() for _ in range(200)] for statements in (first, second, other)]
    assert drawn[0] == drawn[1] != drawn[2]


def test_statements_are_python():
    from python_statements import Statements

    statements = Statements(11, ["plugin.so"])
    for _ in range(2000):
        compile(statements.statement(), "statement", "exec")


@pytest.mark.parametrize("how, died", [
    ("os.kill(os.getpid(), signal.SIGSEGV)", signal.SIGSEGV),
    ("in_fork('os.kill(os.getpid(), signal.SIGBUS)')", signal.SIGBUS),
    ("together('os.abort()', 't[0] + 1')", signal.SIGABRT),
])
def test_a_program_that_dies_is_shrunk_to_what_kills_it(how, died):
    from fuzz_python import Runner

    runner = Runner()
    statements = ["t[0] + 1", "1 / 0", "exit()", "gc.collect()", how, "t[1] + 1"]
    ending = runner.run(statements)
    assert (ending.died, ending.last, ending.passed) == (died, 4, 2)
    assert runner.shrunk(statements, died, time.monotonic() + 60) == [how]


def test_a_loop_of_python_is_interrupted_and_is_no_hang():
    from fuzz_python import Runner

    ending = Runner().run(["in_fork('for _ in range(2**64): pass')", "t[0] + 1"])
    assert (ending.died, ending.last, ending.passed) == (0, 1, 1)
