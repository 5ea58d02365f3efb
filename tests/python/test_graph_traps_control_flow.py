"""Traps of cond and while_loop: what surrounds them, gradients and forward mode among it, is as without a graph."""

import io

import pytest

import keyway
from keyway.func import grad, hessian, jvp

SMALL, LARGE = keyway.tensor([1.0, 2.0, 3.0]), keyway.tensor([10.0, 20.0, 30.0])


def cube_or_square(x):
    return keyway.cond(x.sum() > 20, lambda x: (x * x).sum(), lambda x: (x**3).sum(), (x,))


def doubled(x):
    return keyway.while_loop(lambda x: x.sum() < 50, lambda x: (x * 2,), (x,))[0]


def slope_of_cond(x):
    loss = cube_or_square(x)
    return keyway.autograd.grad(loss, x)[0]


def slope_of_loop(x):
    return keyway.autograd.grad(doubled(x).sum(), x)[0]


def step_that_returns_its_loss(x):
    loss = cube_or_square(x)
    return keyway.autograd.grad(loss, x)[0], loss


def numbers(results):
    results = results if isinstance(results, tuple) else (results,)
    return [result.detach().tolist() for result in results]


@pytest.mark.parametrize("function", [slope_of_cond, slope_of_loop, step_that_returns_its_loss])
def test_a_backward_through_control_flow_is_no_part_of_a_program_as_written(function):
    with pytest.raises(keyway.ValueError, match="capture what is executed"):
        keyway.graph.capture(function, SMALL.clone().requires_grad_(), level="program")


@pytest.mark.parametrize("function", [slope_of_cond, slope_of_loop, step_that_returns_its_loss])
def test_a_compiled_backward_is_that_of_the_branch_that_is_taken(function):
    compiled = keyway.compile(function)
    for x in (SMALL, LARGE, SMALL):
        assert numbers(compiled(x.clone().requires_grad_())) == numbers(function(x.clone().requires_grad_()))


def test_a_program_with_control_flow_is_differentiated_when_it_is_run():
    program = keyway.graph.capture(doubled, SMALL.clone().requires_grad_(), level="program")
    for x in (SMALL, LARGE):
        x = x.clone().requires_grad_()
        assert numbers(keyway.autograd.grad(program(x).sum(), x)) == numbers(slope_of_loop(x))


def test_an_export_of_a_gradient_of_a_cond_is_refused():
    with pytest.raises(keyway.ValueError, match="capture what is executed"):
        keyway.export.export(grad(cube_or_square), (SMALL,))


@pytest.mark.parametrize("function", [cube_or_square, doubled])
def test_tangents_go_through_control_flow_of_a_compiled_function(function):
    def tangent(x):
        return jvp(function, (x,), (keyway.ones_like(x),))

    compiled = keyway.compile(tangent)
    for x in (SMALL, LARGE, SMALL):
        assert numbers(compiled(x)) == numbers(tangent(x))


@pytest.mark.parametrize("program", [cube_or_square, doubled])
def test_tangents_go_through_a_loaded_program(program):
    exported = keyway.export.export(program, (SMALL,))
    file = io.BytesIO()
    keyway.export.save(exported, file)
    loaded = keyway.export.load(file.getvalue())

    def tangent(function):
        return lambda x: jvp(function, (x,), (keyway.ones_like(x),))

    compiled = keyway.compile(tangent(loaded))
    for x in (SMALL, LARGE, SMALL):
        expected = numbers(tangent(program)(x))
        assert numbers(tangent(loaded)(x)) == expected
        assert numbers(compiled(x)) == expected


def test_second_derivatives_of_a_cond_are_those_of_the_branch_that_is_taken():
    def slope(x):
        x = x.clone().requires_grad_()
        (first,) = keyway.autograd.grad(cube_or_square(x), x, create_graph=True)
        return keyway.autograd.grad(first.sum(), x)[0]

    for function in (slope, hessian(cube_or_square)):
        compiled = keyway.compile(function)
        for x in (SMALL, LARGE, SMALL):
            assert numbers(compiled(x)) == numbers(function(x))


@pytest.mark.parametrize("level", ["executed", "program"])
def test_a_loop_and_what_it_compares_with_may_begin_in_one_place(level):
    def counted(x):
        limit, start = x[0], x[0]
        return keyway.while_loop(lambda r, i: i < limit, lambda r, i: (r * 2, i + 1), (start, keyway.tensor(0)))

    program = keyway.graph.capture(counted, keyway.tensor([1.0, 2.0]), level=level)
    assert numbers(program(keyway.tensor([3.0, 2.0]))) == [24, 3]
