"""Products with derivatives of functions, and the arguments of checks of gradients."""

import keyway
import pytest
from keyway import autograd
from keyway.autograd import functional


def tensor(*values, **options):
    return keyway.tensor(list(values), dtype=keyway.float64, **options)


def test_jvp_is_the_jacobian_times_a_vector():
    x, y = tensor(1.0, 2.0), tensor(3.0, 4.0)
    (product, double), (first, second) = functional.jvp(lambda a, b: (a * b, a * 2), (x, y), (x, y))
    assert product.tolist() == [3.0, 8.0] and double.tolist() == [2.0, 4.0]
    assert first.tolist() == [2 * 3.0, 2 * 8.0] and second.tolist() == [2.0, 4.0] and not first.requires_grad
    value, slope = functional.jvp(lambda a: a**3, tensor(2.0))
    assert value.item() == 8 and slope.item() == 12


def test_jvp_can_be_differentiated_again():
    x = tensor(2.0, requires_grad=True)
    _, product = functional.jvp(lambda a: a**3, x, tensor(1.0), create_graph=True)
    product.sum().backward()
    assert product.tolist() == [12.0] and x.grad.tolist() == [12.0]


def test_vectors_have_the_shapes_of_what_they_multiply():
    x = tensor(1.0, 2.0)
    for product in (functional.jvp, functional.vhp, functional.hvp):
        with pytest.raises(keyway.ValueError, match="v"):
            product(lambda a: (a**2).sum(), x, tensor(1.0, 2.0, 3.0))
        with pytest.raises(keyway.ValueError, match="v"):
            product(lambda a: (a**2).sum(), x)


def test_jvp_of_what_does_not_depend_on_the_input_is_zero_and_strictly_an_error():
    assert functional.jvp(lambda a: keyway.ones(2), tensor(1.0))[1].tolist() == [0.0, 0.0]
    for function in (functional.jvp, functional.vjp):
        with pytest.raises(keyway.Error, match="independent of an input"):
            function(lambda a: keyway.ones(1), tensor(1.0), keyway.ones(1), strict=True)
    with pytest.raises(keyway.Error, match="independent of an input"):
        functional.jacobian(lambda a: keyway.ones(2), tensor(1.0), strict=True)


def test_products_with_the_hessian():
    x, v = tensor(1.0, 2.0), tensor(5.0, 7.0)
    for product in (functional.hvp, functional.vhp):
        value, result = product(lambda a: (a**3).sum() + a[0] * a[1], x, v)
        assert value.item() == 11 and result.tolist() == [6 * 5 + 7, 12 * 7 + 5]
        value, (by_a, by_b) = product(lambda a, b: (a * b * b).sum(), (x, x), (v, v))
        assert by_a.tolist() == [2 * 5.0, 4 * 7.0] and by_b.tolist() == [2 * 5 + 2 * 5.0, 4 * 7 + 4 * 7.0]
        with pytest.raises(keyway.ValueError, match="a Tensor of one element"):
            product(lambda a: a, x, v)


def test_the_order_of_work_does_not_change_a_jacobian():
    x = tensor(1.0, 2.0)
    for strategy in ("reverse-mode", "forward-mode"):
        assert functional.jacobian(lambda a: a**2, x, vectorize=True, strategy=strategy).tolist() == [[2, 0], [0, 4]]
        hessian = functional.hessian(lambda a: (a**2).sum(), x, vectorize=True, outer_jacobian_strategy=strategy)
        assert hessian.tolist() == [[2, 0], [0, 2]]
    with pytest.raises(keyway.ValueError, match="'reverse-mode' or 'forward-mode'"):
        functional.jacobian(lambda a: a, x, strategy="sideways")
    for refused in ({}, {"vectorize": True, "create_graph": True}):
        with pytest.raises(keyway.NotImplementedError, match="'forward-mode' is for vectorize=True"):
            functional.jacobian(lambda a: a, x, strategy="forward-mode", **refused)
    with pytest.raises(keyway.ValueError, match="strict=True and vectorize=True"):
        functional.hessian(lambda a: a.sum(), x, strict=True, vectorize=True)


def test_checks_of_gradients_take_options_and_refuse_those_that_are_not_there():
    x = tensor(1.0, 2.0, requires_grad=True)
    assert autograd.gradcheck(lambda a: a**2, x, fast_mode=True, nondet_tol=1e-3, check_undefined_grad=False)
    assert autograd.gradgradcheck(lambda a: a**3, x, gen_non_contig_grad_outputs=True)
    assert autograd.gradgradcheck(lambda a: a**3, (x,), tensor(1.0, -1.0, requires_grad=True))
    with pytest.raises(keyway.NotImplementedError, match="check_batched_grad"):
        autograd.gradcheck(lambda a: a, x, check_batched_grad=True)
    with pytest.raises(keyway.ValueError, match="no input requires a gradient"):
        autograd.gradcheck(lambda a: a, tensor(1.0))


def test_gradients_that_are_made_for_unused_inputs_have_no_history():
    x, y = tensor(1.0, requires_grad=True), tensor(1.0, requires_grad=True)
    _, unused = autograd.grad(x.sum(), [x, y], materialize_grads=True)
    assert unused.tolist() == [0.0] and not unused.requires_grad


def test_what_is_saved_on_the_host_is_a_copy():
    x = tensor(1.0, 2.0, requires_grad=True)
    factor = tensor(3.0, 3.0)
    with autograd.graph.save_on_cpu():
        y = x * factor
    with keyway.no_grad():
        factor.fill_(0)
    y.sum().backward()
    assert x.grad.tolist() == [3.0, 3.0]
