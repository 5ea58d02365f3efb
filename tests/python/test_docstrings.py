"""Every operator has a docstring with an example, and the examples hold."""

import doctest

import keyway
import pytest


def operators():
    """Every operator's function and method, by the name that its example calls it by."""
    found = {}
    for owner, names in (("keyway", vars(keyway._C)), ("keyway.nn.functional", vars(keyway._C._nn)),
                         ("Tensor", vars(keyway.Tensor))):
        for name, value in names.items():
            if isinstance(value, keyway.OperatorFunction):
                found[f"{owner}.{name}"] = value
    return found


def run(name, docstring):
    """What doctest has to say about the examples of a docstring, and how many there are."""
    # A function of nn.functional may be one that calls the operator with other arguments.
    text = docstring.replace("keyway.nn.functional.", "keyway._C._nn.")
    test = doctest.DocTestParser().get_doctest(text, {"keyway": keyway}, name, None, 0)
    report = []
    doctest.DocTestRunner(verbose=False).run(test, out=report.append)
    return "".join(report), len(test.examples)


def test_there_are_as_many_operators_as_the_library_has():
    assert len(operators()) > 450


@pytest.mark.parametrize("name", sorted(operators()))
def test_the_example_of_every_operator_holds(name):
    function = operators()[name]
    report, examples = run(name, function.__doc__)
    assert report == ""
    assert examples >= 1


def test_a_docstring_says_how_to_call_and_what_is_asked_of_arguments():
    doc = keyway.add.__doc__
    head = "add(input: Tensor | Number, other: Tensor, *, alpha: Number = 1, out: Tensor | None = None) -> Tensor\n"
    assert doc.startswith(head)
    for part in ("add(input: Tensor | Number, other: Number, alpha: Number = 1", "The shapes broadcast.", "Requires: ",
                 "Differentiable in `input`, `other`.", ">>> result = keyway.add("):
        assert part in doc
    assert "add(self, other: Tensor, *, alpha: Number = 1) -> Tensor\n" in keyway.Tensor.add.__doc__
    assert "view(self, *size: int) -> Tensor\n" in keyway.Tensor.view.__doc__
    assert "-> return_types.sort\n" in keyway.sort.__doc__


def test_a_wrong_example_would_be_noticed():
    report, examples = run("wrong", ">>> keyway.testing.assert_close(keyway.ones(2), keyway.zeros(2))\n")
    assert "differ in 2 of 2 elements" in report and examples == 1
