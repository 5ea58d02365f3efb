"""keyway.nn.functional.ctc_loss against sums over all paths."""

import itertools
import math

import keyway
import keyway.nn.functional as F
import pytest
from keyway import nn


def collapsed(path, blank):
    return [c for c, _ in itertools.groupby(path) if c != blank]


def loss_by_paths(probabilities, labels, blank=0):
    """Minus the log of the sum over all paths that read as the labels."""
    classes = range(3)
    total = 0.0
    for path in itertools.product(classes, repeat=len(probabilities)):
        if collapsed(path, blank) == list(labels):
            total += math.prod(row[c] for row, c in zip(probabilities, path))
    return -math.log(total) if total > 0 else math.inf


LOGITS = [[[0.3, -1.2, 0.8], [1.0, 0.2, -0.5]], [[-0.4, 0.9, 0.1], [0.0, 0.7, 0.6]],
          [[1.5, -0.3, 0.2], [-1.1, 0.4, 0.3]], [[0.2, 0.5, -0.9], [0.8, -0.6, 1.3]]]


def make_log_probs(requires_grad=False):
    logits = keyway.tensor(LOGITS, dtype=keyway.float64, requires_grad=requires_grad)
    return logits, logits.log_softmax(2)


def row_of(log_probs, n, length):
    return log_probs.detach().exp()[:length, n].tolist()


@pytest.mark.parametrize(("targets", "input_lengths", "target_lengths", "blank"), [
    ([[1, 2], [2, 2]], [4, 4], [2, 2], 0), ([[1, 2], [2, 1]], [4, 3], [1, 2], 0), ([[1, 1], [2, 1]], [3, 2], [2, 0], 0),
    ([[0, 1], [1, 1]], [4, 4], [2, 2], 2), ([[1, 2], [1, 2]], [0, 4], [0, 1], 0)])
def test_a_loss_is_minus_the_log_probability_of_all_paths(targets, input_lengths, target_lengths, blank):
    _, log_probs = make_log_probs()
    expected = [loss_by_paths(row_of(log_probs, n, input_lengths[n]), targets[n][:target_lengths[n]], blank)
                for n in range(2)]
    losses = F.ctc_loss(log_probs, keyway.tensor(targets), input_lengths, target_lengths, blank, reduction="none")
    assert losses.tolist() == pytest.approx(expected)
    together = [label for row, count in zip(targets, target_lengths) for label in row[:count]]
    losses = F.ctc_loss(log_probs, keyway.tensor(together, dtype=keyway.int64), keyway.tensor(input_lengths),
                        keyway.tensor(target_lengths), blank, reduction="none")
    assert losses.tolist() == pytest.approx(expected)


def test_the_mean_divides_by_the_numbers_of_labels_first():
    _, log_probs = make_log_probs()
    arguments = (log_probs, keyway.tensor([[1, 2], [2, 0]]), (4, 4), (2, 1))
    first, second = F.ctc_loss(*arguments, reduction="none").tolist()
    assert F.ctc_loss(*arguments).item() == pytest.approx((first / 2 + second) / 2)
    assert nn.CTCLoss(reduction="sum")(*arguments).item() == pytest.approx(first + second)
    assert keyway.ctc_loss(*arguments, 0, 0).tolist() == [first, second]


def test_the_gradient_agrees_with_differences():
    def loss(logits):
        return F.ctc_loss(logits.log_softmax(2), keyway.tensor([[1, 2], [2, 2]]), (4, 3), (2, 2), reduction="sum")

    assert keyway.autograd.gradcheck(loss, (make_log_probs(requires_grad=True)[0],))


@pytest.mark.parametrize("zero_infinity", [False, True])
def test_an_input_that_is_too_short_has_an_infinite_loss_or_none(zero_infinity):
    logits, log_probs = make_log_probs(requires_grad=True)
    losses = F.ctc_loss(log_probs, keyway.tensor([[1, 2], [2, 2]]), (4, 2), (2, 2), reduction="none",
                        zero_infinity=zero_infinity)
    assert losses[1].item() == (0.0 if zero_infinity else math.inf)
    losses.sum().backward()
    assert logits.grad[:, 0].isfinite().all()
    assert (logits.grad[:, 1] == 0).all().item() is zero_infinity


def test_without_a_batch_the_loss_has_no_dimension():
    _, log_probs = make_log_probs()
    losses = F.ctc_loss(log_probs, keyway.tensor([[1, 2], [2, 2]]), (4, 4), (2, 2), reduction="none")
    one = F.ctc_loss(log_probs[:, 1], keyway.tensor([2, 2]), keyway.tensor(4), keyway.tensor(2), reduction="none")
    assert one.shape == () and one.item() == pytest.approx(losses[1].item())


@pytest.mark.parametrize(("changes", "text"), [
    ({"input_lengths": (5, 4)}, "input_lengths must be at least 0 and at most 4"),
    ({"input_lengths": (4,)}, "input_lengths must be of size batch_size, 2, not 1"),
    ({"target_lengths": (3, 2)}, "sequences of up to 3 labels"),
    ({"targets": keyway.tensor([1, 2, 1])}, "target_lengths sum up to 4, but there are 3 targets"),
    ({"blank": 3}, "blank must be in label range"),
])
def test_what_does_not_fit_is_refused(changes, text):
    arguments = {"log_probs": make_log_probs()[1], "targets": keyway.tensor([[1, 2], [2, 2]]), "input_lengths": (4, 4),
                 "target_lengths": (2, 2)}
    with pytest.raises(ValueError, match=text):
        F.ctc_loss(**{**arguments, **changes})
