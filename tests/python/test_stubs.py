"""Type stubs: complete, true to the operators, and accepted by mypy."""

import ast
import re
import runpy
import subprocess
import sys
import types
from pathlib import Path

import keyway
import pytest

PACKAGE = Path(keyway.__file__).parent
HERE = Path(__file__).parent


def functions_of(path, inside=None):
    """The definitions of functions by name, at the top of a stub or in a class of it."""
    body = ast.parse(path.read_text()).body
    if inside:
        body = next(node for node in body if isinstance(node, ast.ClassDef) and node.name == inside).body
    found = {}
    for node in body:
        if isinstance(node, ast.FunctionDef):
            found.setdefault(node.name, []).append(node)
    return found


OWNERS = [
    (keyway._C, functions_of(PACKAGE / "_C/_operators.pyi")),
    (keyway._C._nn, functions_of(PACKAGE / "_C/_nn.pyi")),
    (keyway.Tensor, functions_of(PACKAGE / "_C/_operators.pyi", "TensorOperators")),
]


@pytest.mark.parametrize(("owner", "stubs"), OWNERS, ids=["keyway", "nn", "Tensor"])
def test_the_stubs_have_every_operator_and_nothing_else(owner, stubs):
    operators = {name for name, value in vars(owner).items() if isinstance(value, keyway.OperatorFunction)}
    assert operators - set(stubs) == set()
    glue = set(stubs) - operators  # what is more in Python than the operator, or another thing: to, data
    assert glue - hand_written("Tensor" if owner is keyway.Tensor else None) == set()


def documented_parameters(docstring, name):
    """The parameter lists of a docstring's signatures, of names only."""
    lists = []
    for text in re.findall(rf"^{name}\(.*?\) -> .*?$", docstring, re.MULTILINE | re.DOTALL):
        text = text.replace("from:", "from_:").replace("keyway.", "")
        lists.append(names_of(ast.parse(f"def {text}: ...").body[0]))
    return lists


def names_of(function):
    arguments = function.args
    star = ["*" + arguments.vararg.arg] if arguments.vararg else ["*"] if arguments.kwonlyargs else []
    return [a.arg for a in arguments.posonlyargs + arguments.args] + star + [a.arg for a in arguments.kwonlyargs]


@pytest.mark.parametrize(("owner", "stubs"), OWNERS, ids=["keyway", "nn", "Tensor"])
def test_the_stubs_have_the_parameters_of_the_docstrings(owner, stubs):
    for name, definitions in stubs.items():
        if not isinstance(vars(owner)[name], keyway.OperatorFunction):
            continue
        documented = documented_parameters(vars(owner)[name].__doc__, name)
        assert [names_of(definition) for definition in definitions] == documented, name


def test_every_class_of_named_results_is_in_the_stubs():
    tree = ast.parse((PACKAGE / "return_types.pyi").read_text())
    fields = {node.name: [f.target.id for f in node.body] for node in tree.body if isinstance(node, ast.ClassDef)}
    made = {name: value for name, value in vars(keyway.return_types).items() if isinstance(value, type)}
    assert set(fields) == set(made)
    assert {name: list(made[name].__match_args__) for name in made} == fields


def hand_written(inside=None, stub="_C/__init__.pyi"):
    """The names of the stubs that are no operators."""
    body = ast.parse((PACKAGE / stub).read_text()).body
    if inside:
        body = next(node for node in body if isinstance(node, ast.ClassDef) and node.name == inside).body
    annotated = {node.target.id for node in body if isinstance(node, ast.AnnAssign)
                 and ast.unparse(node.annotation) != "TypeAlias"}
    return annotated | {node.name for node in body if isinstance(node, (ast.ClassDef, ast.FunctionDef))}


@pytest.mark.parametrize(("owner", "inside"), [(keyway._C, None), (keyway.Tensor, "Tensor"), (keyway._C._autograd, None),
                                               (keyway._C._devices, None)], ids=["keyway", "Tensor", "_autograd", "_devices"])
def test_the_hand_written_stubs_have_what_is_no_operator_and_nothing_else(owner, inside):
    stubs = {keyway._C._autograd: "_C/_autograd.pyi", keyway._C._devices: "_C/_devices.pyi"}
    stub = stubs.get(owner, "_C/__init__.pyi")
    others = {name for name, value in vars(owner).items()
              if not isinstance(value, (keyway.OperatorFunction, types.ModuleType)) and not name.startswith("__")}
    of_plugins = {name for known in keyway._backends._attached for name in (known, f"is_{known}")}
    assert others - of_plugins - hand_written(inside, stub) == set()
    assert {name for name in hand_written(inside, stub) if not hasattr(owner, name)} == set()


@pytest.fixture(scope="module")
def mypy(tmp_path_factory):
    """A function: the lines that mypy says of files, or of a package. What it has read once it does not read again."""
    pytest.importorskip("mypy")
    folder = tmp_path_factory.mktemp("mypy")

    def lines(*what):
        run = subprocess.run(
            [sys.executable, "-m", "mypy", "--strict", "--no-error-summary", "--cache-dir", str(folder / "cache"),
             "--config-file", str(HERE.parents[1] / "pyproject.toml"), *what],
            capture_output=True, text=True, check=False, env={"MYPYPATH": str(PACKAGE.parent)}, cwd=folder)
        assert run.stderr == ""
        return run.stdout.splitlines()

    return lines


def test_mypy_accepts_the_package(mypy):
    assert mypy("-p", "keyway") == []


def test_mypy_accepts_a_sample_program(mypy):
    assert mypy(str(HERE / "typed_sample.py")) == []


def test_the_sample_program_runs():
    runpy.run_path(str(HERE / "typed_sample.py"), run_name="__main__")


def test_mypy_refuses_every_wrong_call(mypy, tmp_path):
    (tmp_path / "wrong_calls.py").write_text(WRONG_CALLS)
    refused = {int(line.split(":")[1]) for line in mypy(str(tmp_path / "wrong_calls.py")) if ": error:" in line}
    assert refused == set(range(2, len(WRONG_CALLS.splitlines()) + 1))


WRONG_CALLS = """import keyway
keyway.add(keyway.ones(2), "text")
keyway.add(keyway.ones(2), keyway.ones(2), 2, 3)
keyway.add(keyway.ones(2), other=keyway.ones(2), beta=1)
keyway.zeros("2")
keyway.zeros(2, dtype="float32")
keyway.zeros(2, requires_grad=keyway.ones(2))
keyway.sort(keyway.ones(2)).nothing
keyway.ones(2).view(2.5)
keyway.ones(2).mm()
keyway.ones(2).shape = (2,)
x: int = keyway.ones(2)
keyway.ad(keyway.ones(2), 1)
keyway.nn.functional.gel(keyway.ones(2))
keyway.ones(2).ad(1)
"""
