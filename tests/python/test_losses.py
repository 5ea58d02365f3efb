"""Losses of distances, margins and likelihoods: known numbers, reductions, refusals, and their modules."""

import math

import keyway
import keyway.nn.functional as F
import pytest
from keyway import nn
from keyway.autograd import gradcheck, gradgradcheck

F64 = keyway.float64


def test_cross_entropy_of_probabilities_by_hand():
    p, target = keyway.tensor([0.25, 0.5]), keyway.tensor([1.0, 0.25])
    expected = [math.log(4), math.log(2)]
    assert F.binary_cross_entropy(p, target, reduction="none").tolist() == pytest.approx(expected)
    assert F.binary_cross_entropy(p, target).item() == pytest.approx(1.5 * math.log(2))
    weight = keyway.tensor([2.0, 0.0])
    assert F.binary_cross_entropy(p, target, weight, reduction="sum").item() == pytest.approx(2 * math.log(4))


def test_the_cross_entropy_of_certain_errors_is_finite():
    p = keyway.tensor([0.0, 1.0, 1.0], requires_grad=True)
    loss = F.binary_cross_entropy(p, keyway.tensor([1.0, 0.0, 1.0]), reduction="none")
    assert loss.tolist() == [100.0, 100.0, 0.0]
    loss.sum().backward()
    assert p.grad.tolist() == pytest.approx([-1e12, 1e12, 0.0])


def test_cross_entropy_refuses_what_is_no_probability_and_other_shapes():
    with pytest.raises(RuntimeError, match="between 0 and 1"):
        F.binary_cross_entropy(keyway.tensor([1.5]), keyway.tensor([1.0]))
    with pytest.raises(ValueError, match="must be the same as input size"):
        F.binary_cross_entropy(keyway.rand(3, 2), keyway.zeros(2))


def test_losses_of_margins_by_hand():
    signs = keyway.tensor([1.0, -1.0])
    a, b = keyway.tensor([1.0, 2.0]), keyway.tensor([3.0, 1.0])
    assert F.margin_ranking_loss(a, b, signs, 0.5, reduction="none").tolist() == [2.5, 1.5]
    assert F.hinge_embedding_loss(keyway.tensor([0.25, 0.25]), signs, 1.0, reduction="none").tolist() == [0.25, 0.75]
    assert F.soft_margin_loss(keyway.tensor([0.0, 0.0]), signs).item() == pytest.approx(math.log(2))
    x, y = keyway.tensor([[3.0, 4.0], [4.0, 3.0]]), keyway.tensor([[5.0, 0.0], [0.0, 5.0]])
    assert F.cosine_embedding_loss(x, y, signs, 0.25, reduction="none").tolist() == pytest.approx([0.4, 0.35])
    assert F.cosine_embedding_loss(x[0], y[0], keyway.tensor(1)).item() == pytest.approx(0.4)


def test_losses_of_classes_with_margins_by_hand():
    x, classes = keyway.tensor([[0.25, 0.5, 1.0], [2.0, 0.0, 0.5]]), keyway.tensor([0, 2])
    assert F.multi_margin_loss(x, classes, reduction="none").tolist() == pytest.approx([3 / 3, 3 / 3])
    weighed = F.multi_margin_loss(x, classes, 2, 0.5, keyway.tensor([1.0, 1.0, 3.0]), reduction="none")
    assert weighed.tolist() == pytest.approx([(0.75**2 + 1.25**2) / 3, 4 * 3 / 3])
    targets = keyway.tensor([[2, -1, 0], [-1, 0, 1]])
    assert F.multilabel_margin_loss(x, targets, reduction="none").tolist() == pytest.approx([(0.25 + 0.5) / 3, 0.0])
    soft = F.multilabel_soft_margin_loss(keyway.zeros(2, 3), keyway.ones(2, 3), reduction="none")
    assert soft.tolist() == pytest.approx([math.log(2)] * 2)


def test_losses_of_triplets_by_hand():
    a, p, n = keyway.zeros(1, 2), keyway.tensor([[3.0, 4.0]]), keyway.tensor([[0.0, 6.0]])
    assert F.pairwise_distance(a, p, eps=0.0).tolist() == [5.0]
    assert F.triplet_margin_loss(a, p, n, 2.0).item() == pytest.approx(1.0, abs=1e-5)
    swapped = F.triplet_margin_loss(a, p, n, 2.0, swap=True).item()
    assert swapped == pytest.approx(7 - math.sqrt(13), abs=1e-5)
    by_function = F.triplet_margin_with_distance_loss(
        a, p, n, distance_function=lambda x, y: (x - y).abs().sum(-1), margin=2.0, reduction="none")
    assert by_function.tolist() == [3.0]


def test_losses_of_likelihoods_by_hand():
    x, count = keyway.tensor([0.5, 2.0]), keyway.tensor([1.0, 3.0])
    plain = [0.5 - math.log(0.5), 2 - 3 * math.log(2)]
    assert F.poisson_nll_loss(x, count, False, eps=0.0, reduction="none").tolist() == pytest.approx(plain)
    full = F.poisson_nll_loss(x, count, False, True, eps=0.0, reduction="none").tolist()
    assert full[1] == pytest.approx(plain[1] + 3 * math.log(3) - 3 + 0.5 * math.log(6 * math.pi))
    normal = F.gaussian_nll_loss(x, count, keyway.tensor([1.0, 0.25]), full=True, reduction="none").tolist()
    half = 0.5 * math.log(2 * math.pi)
    assert normal == pytest.approx([0.125 + half, 0.5 * (math.log(0.25) + 4) + half])
    with pytest.raises(ValueError, match="negative"):
        F.gaussian_nll_loss(x, count, keyway.tensor([1.0, -1.0]))
    with pytest.raises(ValueError, match="does not fit"):
        F.gaussian_nll_loss(x, count, keyway.ones(3))


CALLS = [
    (nn.BCELoss, {}, (keyway.tensor([0.5, 0.25]), keyway.tensor([1.0, 0.0]))),
    (nn.CosineEmbeddingLoss, {"margin": 0.5}, (keyway.ones(2, 3), keyway.ones(2, 3), keyway.tensor([1, -1]))),
    (nn.HingeEmbeddingLoss, {"margin": 0.5}, (keyway.tensor([0.5, 0.25]), keyway.tensor([1, -1]))),
    (nn.MarginRankingLoss, {"margin": 0.5}, (keyway.ones(2), keyway.zeros(2), keyway.tensor([1.0, -1.0]))),
    (nn.SoftMarginLoss, {}, (keyway.tensor([0.5, 0.25]), keyway.tensor([1.0, -1.0]))),
    (nn.MultiMarginLoss, {"p": 2}, (keyway.tensor([[0.5, 0.25]]), keyway.tensor([1]))),
    (nn.MultiLabelMarginLoss, {}, (keyway.tensor([[0.5, 0.25]]), keyway.tensor([[1, -1]]))),
    (nn.MultiLabelSoftMarginLoss, {}, (keyway.tensor([[0.5, 0.25]]), keyway.tensor([[1.0, 0.0]]))),
    (nn.TripletMarginLoss, {"p": 1.0}, (keyway.ones(2, 3), keyway.zeros(2, 3), keyway.ones(2, 3))),
    (nn.TripletMarginWithDistanceLoss, {"swap": True}, (keyway.ones(2, 3), keyway.zeros(2, 3), keyway.ones(2, 3))),
    (nn.PoissonNLLLoss, {"full": True}, (keyway.tensor([0.5, 0.25]), keyway.tensor([1.0, 4.0]))),
    (nn.GaussianNLLLoss, {"full": True}, (keyway.zeros(2), keyway.ones(2), keyway.ones(2))),
]
NAMES = {
    nn.BCELoss: F.binary_cross_entropy, nn.CosineEmbeddingLoss: F.cosine_embedding_loss,
    nn.HingeEmbeddingLoss: F.hinge_embedding_loss, nn.MarginRankingLoss: F.margin_ranking_loss,
    nn.SoftMarginLoss: F.soft_margin_loss, nn.MultiMarginLoss: F.multi_margin_loss,
    nn.MultiLabelMarginLoss: F.multilabel_margin_loss, nn.MultiLabelSoftMarginLoss: F.multilabel_soft_margin_loss,
    nn.TripletMarginLoss: F.triplet_margin_loss,
    nn.TripletMarginWithDistanceLoss: F.triplet_margin_with_distance_loss,
    nn.PoissonNLLLoss: F.poisson_nll_loss, nn.GaussianNLLLoss: F.gaussian_nll_loss,
}  # fmt: skip


@pytest.mark.parametrize(("module", "options", "arguments"), CALLS, ids=lambda x: getattr(x, "__name__", ""))
def test_modules_are_their_functions(module, options, arguments):
    for reduction in ("none", "mean", "sum"):
        made = module(**options, reduction=reduction)(*arguments)
        assert made.tolist() == NAMES[module](*arguments, **options, reduction=reduction).tolist()
        assert (made.dim() == 0) == (reduction != "none")


def test_losses_have_gradients():
    x = keyway.rand(3, 4, dtype=keyway.float64).mul(0.8).add(0.1).requires_grad_()
    y = keyway.rand(3, 4, dtype=keyway.float64).mul(0.8).add(0.1).requires_grad_()
    rows = keyway.tensor([0, 3, 1])
    assert gradcheck(lambda a, b: F.binary_cross_entropy(a, b), (x, y))
    assert gradcheck(lambda a: F.multi_margin_loss(a, rows, 2), (x,))
    assert gradcheck(lambda a, b: F.cosine_embedding_loss(a, b, keyway.tensor([1, -1, 1])), (x, y))
    assert gradcheck(lambda a, b: F.poisson_nll_loss(a, b, full=True), (x, y))
    assert gradcheck(lambda a, b: F.gaussian_nll_loss(a, keyway.ones(3, 4), b, reduction="sum"), (x, y))


def test_functions_of_operators_reduce_nothing_unless_asked():
    x, y = keyway.rand(2, 3), keyway.rand(2, 3)
    assert keyway.kl_div(x.log(), y).shape == (2, 3) and keyway.kl_div(x.log(), y, 2).shape == ()
    assert keyway.binary_cross_entropy_with_logits(x, y).shape == (2, 3)
    assert keyway.triplet_margin_loss(x, y, x).shape == (2,)
    assert keyway.margin_ranking_loss(x, y, y, reduction=1).shape == ()
    assert keyway.hinge_embedding_loss(x, y).shape == (2, 3)
    assert keyway.cosine_embedding_loss(x, y, keyway.tensor([1, -1])).shape == (2,)


@pytest.mark.parametrize("loss", [F.huber_loss, F.smooth_l1_loss])
def test_an_error_without_bounds_has_a_bounded_slope(loss):
    x = keyway.tensor([math.inf, -math.inf, 0.5], requires_grad=True)
    loss(x, keyway.zeros(3), reduction="sum").backward()
    assert x.grad.tolist() == [1.0, -1.0, 0.5]


def test_mse_loss_is_of_real_numbers():
    with pytest.raises(keyway.Error, match="mse_loss: requires !self.is_complex()"):
        F.mse_loss(keyway.ones(2, dtype=keyway.complex64), keyway.zeros(2))


def test_probabilities_as_targets_have_no_class_to_ignore():
    with pytest.raises(keyway.ValueError, match="ignore_index=1"):
        F.cross_entropy(keyway.zeros(2, 3), keyway.ones(2, 3) / 3, ignore_index=1)


def test_the_distance_of_a_triplet_loss_is_part_of_its_text():
    assert "(distance_function): PairwiseDistance()" in repr(nn.TripletMarginWithDistanceLoss())


def test_losses_take_a_weight_for_each_element():
    x, y, weight = keyway.tensor([1.0, 4.0]), keyway.tensor([0.0, 1.0]), keyway.tensor([1.0, 3.0])
    assert F.mse_loss(x, y, weight=weight, reduction="none").tolist() == [1.0, 27.0]
    assert F.mse_loss(x, y, weight=weight).item() == 28.0 / 4
    assert F.l1_loss(x, y, weight=weight).item() == 10.0 / 4
    assert F.l1_loss(x, y, weight=weight, reduction="sum").item() == 10.0
    assert F.huber_loss(x, y, weight=weight).item() == (0.5 + 3 * 2.5) / 2
    assert F.huber_loss(x, y, weight=weight, reduction="sum").item() == 8.0
    for loss in (F.mse_loss, F.l1_loss, F.huber_loss):
        with pytest.raises(keyway.ValueError, match="weight"):
            loss(x, y, weight=keyway.ones(1))


def test_a_variance_may_be_a_float_or_one_for_each_row_of_some_dimension():
    x, y = keyway.tensor([[1.0, 2.0], [3.0, 5.0]]), keyway.zeros(2, 2)
    expected = [[(math.log(2) + v * v / 2) / 2 for v in row] for row in ([1.0, 2.0], [3.0, 5.0])]
    assert F.gaussian_nll_loss(x, y, 2.0, reduction="none").flatten().tolist() == pytest.approx(sum(expected, []))
    columns = F.gaussian_nll_loss(x, y, keyway.tensor([[1.0, 2.0]]), reduction="none")
    assert columns[:, 0].tolist() == [0.5, 4.5] and columns[1, 1].item() == pytest.approx(expected[1][1])
    with pytest.raises(keyway.ValueError, match="negative"):
        F.gaussian_nll_loss(x, y, -1.0)
    with pytest.raises(keyway.ValueError, match="does not fit"):
        F.gaussian_nll_loss(x, y, keyway.ones(1, 1))
    with pytest.raises(keyway.TypeError, match="var"):
        F.gaussian_nll_loss(x, y, 1)


@pytest.mark.parametrize("reduction", ["none", "mean", "sum"])
@pytest.mark.parametrize("sizes", [(5,), (3, 5), (0, 5), (2, 5, 3), (2, 5, 2, 2)])
def test_cross_entropy_of_classes_is_nll_loss_of_log_softmax(sizes, reduction):
    keyway.manual_seed(2)
    dim = 0 if len(sizes) == 1 else 1
    logits = keyway.randn(sizes, dtype=F64, requires_grad=True)
    target = keyway.randint(0, 5, sizes[:dim] + sizes[dim + 1:])
    for weight in (None, keyway.tensor([0.5, 2.0, 1.0, 0.0, 3.0], dtype=F64)):
        for ignore_index in (-100, 1):
            options = {"weight": weight, "ignore_index": ignore_index, "reduction": reduction}
            loss = F.cross_entropy(logits, target, **options)
            expected = F.nll_loss(F.log_softmax(logits, dim), target, **options)
            assert loss.shape == expected.shape
            assert keyway.allclose(loss, expected, equal_nan=True)
            grad = keyway.randn(loss.shape, dtype=F64)
            assert keyway.allclose(keyway.autograd.grad(loss, logits, grad)[0],
                                   keyway.autograd.grad(expected, logits, grad)[0], equal_nan=True)


@pytest.mark.parametrize("reduction", ["none", "mean", "sum"])
def test_cross_entropy_of_classes_has_gradients_of_any_order(reduction):
    keyway.manual_seed(3)
    logits = keyway.randn(3, 4, dtype=F64, requires_grad=True)
    target = keyway.tensor([3, -100, 0])
    weight = keyway.tensor([0.5, 2.0, 1.0, 3.0], dtype=F64)

    def loss(x):
        return F.cross_entropy(x, target, weight, reduction=reduction)

    def slope(x):
        return keyway.autograd.grad(loss(x).sum(), x, create_graph=True)[0]

    assert gradcheck(loss, (logits,), check_forward_ad=True)
    assert gradgradcheck(loss, (logits,))
    assert gradgradcheck(slope, (logits,))


def test_cross_entropy_keeps_the_digits_of_a_loss_of_large_logits():
    for dtype, tolerance in ((keyway.float32, 1e-6), (keyway.float16, 1e-3)):
        logits = keyway.tensor([[30000.0, 30000.0]], dtype=dtype, requires_grad=True)
        loss = F.cross_entropy(logits, keyway.tensor([1]))
        assert loss.dtype == dtype and loss.item() == pytest.approx(math.log(2), rel=tolerance)
        loss.backward()
        assert logits.grad.tolist() == [[pytest.approx(0.5, rel=tolerance), pytest.approx(-0.5, rel=tolerance)]]


def test_cross_entropy_names_what_is_wrong_with_its_target():
    with pytest.raises(keyway.Error, match="cross_entropy_loss: requires .*target"):
        F.cross_entropy(keyway.zeros(2, 3), keyway.zeros(2, 1, 1, dtype=keyway.int64))
    with pytest.raises(IndexError, match="argument 'target' has 3 at position 1, but must be in"):
        F.cross_entropy(keyway.zeros(2, 3), keyway.tensor([0, 3]))

def test_triplet_losses_refuse_a_margin_that_is_not_positive_when_they_are_made():
    for loss in (nn.TripletMarginLoss, nn.TripletMarginWithDistanceLoss):
        with pytest.raises(keyway.ValueError, match=f"{loss.__name__}: expected margin to be greater than 0, got 0"):
            loss(margin=0)
