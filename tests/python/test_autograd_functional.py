"""keyway.autograd.functional: products with Jacobians and Hessians."""

import keyway
import pytest
from keyway.autograd.functional import hessian, hvp, jacobian, jvp, vhp, vjp


def product_and_sum(x, y):
    return x * y, x.sum()


def test_jvp_is_the_change_of_the_results_along_a_vector():
    x, y = keyway.tensor([1.0, 2.0]), keyway.tensor([3.0, 5.0])
    results, products = jvp(product_and_sum, (x, y), (keyway.tensor([1.0, 0.0]), keyway.tensor([10.0, 10.0])))
    assert [r.tolist() for r in results] == [[3.0, 10.0], 3.0]
    assert [p.tolist() for p in products] == [[13.0, 20.0], 1.0]  # dx y + x dy
    assert not any(t.requires_grad for t in (*results, *products))


def test_jvp_can_be_differentiated_again():
    x = keyway.tensor([2.0], requires_grad=True)
    _, product = jvp(lambda t: t**3, x, keyway.tensor([1.0]), create_graph=True)
    product.backward()
    assert product.tolist() == [12.0] and x.grad.tolist() == [12.0]


def test_hvp_and_vhp_are_the_hessian_times_a_vector():
    def f(x, y):
        return (x**2 * y).sum()

    x, y, v, w = (keyway.tensor([n]) for n in (2.0, 3.0, 1.0, 10.0))
    # The Hessian is [[2 y, 2 x], [2 x, 0]].
    for product in (hvp, vhp):
        value, (a, b) = product(f, (x, y), (v, w))
        assert value.item() == 12.0 and (a.tolist(), b.tolist()) == ([46.0], [4.0])
    value, a = hvp(lambda t: t.pow(4).sum(), keyway.tensor([2.0]))
    assert a.tolist() == [48.0]


def test_what_does_not_depend_on_the_input_has_zeros_or_with_strict_is_an_error():
    x = keyway.ones(2)
    assert jvp(lambda t: keyway.ones(3), x, x)[1].tolist() == [0.0, 0.0, 0.0]
    assert hvp(lambda t: t.sum(), x, x)[1].tolist() == [0.0, 0.0]
    for function in (jvp, vjp):
        with pytest.raises(keyway.AutogradError, match="output 0 of func does not require gradients"):
            function(lambda t: keyway.ones(2), x, x, strict=True)
    with pytest.raises(keyway.AutogradError, match="hvp: the result is independent of input 0"):
        hvp(lambda t: t.sum(), x, x, strict=True)
    with pytest.raises(keyway.AutogradError, match="jacobian: the result is independent of input 1"):
        jacobian(lambda a, b: a * 2, (x, x), strict=True)


def test_vectors_have_to_fit():
    x = keyway.ones(2)
    with pytest.raises(ValueError, match="jvp: argument 'v' must have the shapes of the inputs"):
        jvp(lambda t: t, x, keyway.ones(3))
    with pytest.raises(ValueError, match="vhp: argument 'v' may be left out only for a single input of one element"):
        vhp(lambda t: t.sum(), x)
    with pytest.raises(ValueError, match="hvp: func has to return a single Tensor of one element"):
        hvp(lambda t: t, x, x)


def test_vectorize_and_strategy_change_no_value():
    x = keyway.tensor([1.0, 2.0])
    for options in ({}, {"vectorize": True}, {"vectorize": True, "strategy": "forward-mode"}):
        assert jacobian(lambda t: t * t, x, **options).tolist() == [[2.0, 0.0], [0.0, 4.0]]
    assert hessian(lambda t: t.pow(3).sum(), x, vectorize=True).tolist() == [[6.0, 0.0], [0.0, 12.0]]
    with pytest.raises(NotImplementedError, match="strategy='forward-mode' is for vectorize=True"):
        jacobian(lambda t: t, x, strategy="forward-mode")
