"""fast_rnnt: the logarithm of the sum over all monotonic alignments of symbols and frames, and losses of transducers. The
oracle walks through all alignments, or through the table of their sums."""

import fast_rnnt
import numpy as np
import pytest
import torch
from values import array, assert_close, normal, whole

KINDS = ["regular", "modified", "constrained"]
B, S, T, C = 2, 3, 5, 6  # sequences, symbols, frames, vocabulary
BLANK = 0
BOUNDARY = torch.tensor([[0, 0, 3, 5], [0, 0, 2, 4]])


def alignments(s, t, last_s, last_t, modified):
    """Of every way from (s, t) to the end its steps, as (is a symbol, s, t)."""
    if (s, t) == (last_s, last_t):
        yield []
        return
    if s < last_s and (not modified or t < last_t):
        for rest in alignments(s + 1, t + modified, last_s, last_t, modified):
            yield [(True, s, t), *rest]
    if t < last_t:
        for rest in alignments(s, t + 1, last_s, last_t, modified):
            yield [(False, s, t), *rest]


def total(px, py, boundary=None, modified=False):
    """The logarithm of the sum over all ways, sequence by sequence."""
    result = []
    for b in range(len(px)):
        s0, t0, s1, t1 = (0, 0, py.shape[1] - 1, py.shape[2]) if boundary is None else boundary[b]
        ways = [sum(px[b, s, t] if symbol else py[b, s, t] for symbol, s, t in way)
                for way in alignments(s0, t0, s1, t1, modified)]
        result.append(np.logaddexp.reduce(ways))
    return np.array(result)


def table(px, py, modified=False):
    """As `total`, by the recursion over lengths."""
    batch, length, frames = py.shape
    p = np.full((batch, length, frames + 1), -np.inf)
    p[:, 0, 0] = 0
    for s in range(length):
        for t in range(frames + 1):
            ways = [p[:, s, t]]
            if s > 0 and (not modified or t > 0):
                ways.append(p[:, s - 1, t - modified] + px[:, s - 1, t - modified])
            if t > 0:
                ways.append(p[:, s, t - 1] + py[:, s, t - 1])
            p[:, s, t] = np.logaddexp.reduce(ways)
    return p[:, -1, -1]


def scores(seed, modified=False, dtype=torch.float64):
    return normal(seed, B, S, T if modified else T + 1, dtype=dtype), normal(seed + 1, B, S + 1, T, dtype=dtype)


def assert_gradients(function, *inputs):
    """One backward of the sum of `function` gives the differences of that sum. gradcheck calls backward more often, which
    this package does not allow."""
    leaves = [tensor.clone().requires_grad_() for tensor in inputs]
    function(*leaves).sum().backward()
    for leaf in leaves:
        flat, differences = leaf.detach().view(-1), []
        for i in range(flat.numel()):
            kept, values = flat[i].item(), []
            for step in (1e-6, -1e-6):
                flat[i] = kept + step
                values.append(function(*(tensor.detach() for tensor in leaves)).sum().item())
            flat[i] = kept
            differences.append((values[0] - values[1]) / 2e-6)
        np.testing.assert_allclose(array(leaf.grad).ravel(), differences, rtol=1e-5, atol=1e-7)


# ---- the recursion -------------------------------------------------------------------------------------------------

@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("modified", [False, True])
def test_the_recursion_sums_over_all_alignments(modified, dtype):
    px, py = scores(1, modified, dtype)
    assert_close(fast_rnnt.mutual_information_recursion(px, py), total(array(px), array(py), modified=modified))


@pytest.mark.parametrize("modified", [False, True])
def test_the_recursion_of_long_sequences(modified):
    px, py = normal(3, 3, 20, 60 if modified else 61), normal(4, 3, 21, 60)
    assert_close(fast_rnnt.mutual_information_recursion(px, py), table(array(px), array(py), modified), 1e-9)


@pytest.mark.parametrize("modified", [False, True])
def test_a_boundary_says_where_sequences_begin_and_end(modified):
    px, py = scores(5, modified)
    boundary = torch.tensor([[0, 0, 3, 5], [1, 1, 3, 4]])
    expected = total(array(px), array(py), boundary.tolist(), modified)
    assert_close(fast_rnnt.mutual_information_recursion(px, py, boundary), expected)


def test_an_empty_sequence_of_symbols_has_one_alignment():
    px, py = scores(7)
    boundary = torch.tensor([[2, 0, 2, 5], [1, 1, 1, 3]])
    expected = [array(py)[0, 2].sum(), array(py)[1, 1, 1:3].sum()]
    assert_close(fast_rnnt.mutual_information_recursion(px, py, boundary), expected)


def test_what_is_impossible_counts_nothing():
    px, py = scores(9)
    py[:, 0] = -float("inf")
    expected = total(array(px), array(py))
    assert_close(fast_rnnt.mutual_information_recursion(px, py), expected)


@pytest.mark.parametrize("modified", [False, True])
def test_the_recursion_has_the_gradient_of_its_values(modified):
    assert_gradients(fast_rnnt.mutual_information_recursion, *scores(11, modified))


def test_the_recursion_has_no_gradient_beyond_a_boundary():
    boundary = torch.tensor([[0, 0, 3, 5], [1, 1, 3, 4]])
    assert_gradients(lambda px, py: fast_rnnt.mutual_information_recursion(px, py, boundary), *scores(13))


def test_a_gradient_is_multiplied_by_that_of_the_result():
    px, py = (tensor.requires_grad_() for tensor in scores(15))
    fast_rnnt.mutual_information_recursion(px, py).backward(torch.tensor([2.0, -3.0], dtype=torch.float64))
    plain_px, plain_py = (tensor.requires_grad_() for tensor in scores(15))
    fast_rnnt.mutual_information_recursion(plain_px, plain_py).sum().backward()
    factors = np.array([2.0, -3.0]).reshape(2, 1, 1)
    assert_close(px.grad, array(plain_px.grad) * factors)
    assert_close(py.grad, array(plain_py.grad) * factors)


def test_return_grad_gives_how_often_each_step_is_taken():
    px, py = scores(17)
    _, (of_px, of_py) = fast_rnnt.mutual_information_recursion(px, py, return_grad=True)
    assert_close(of_px.sum((1, 2)), np.full(B, S))  # each way has S symbols and T frames
    assert_close(of_py.sum((1, 2)), np.full(B, T))
    assert of_px.min() >= 0 and of_px.max() <= 1


def test_the_joint_recursion_shares_the_total_among_its_terms():
    (px, py), (other_px, other_py) = scores(19), scores(21)
    result = fast_rnnt.joint_mutual_information_recursion([px, other_px], [py, other_py])
    assert result.shape == (2, B)
    assert_close(result.sum(0), total(array(px) + array(other_px), array(py) + array(other_py)))


def test_the_second_term_of_the_joint_recursion_is_what_steps_give_on_average():
    (px, py), (other_px, other_py) = scores(23), scores(25)
    _, (of_px, of_py) = fast_rnnt.mutual_information_recursion(px + other_px, py + other_py, return_grad=True)
    result = fast_rnnt.joint_mutual_information_recursion([px, other_px], [py, other_py])
    expected = (array(of_px) * array(other_px)).sum((1, 2)) + (array(of_py) * array(other_py)).sum((1, 2))
    assert_close(result[1], expected)


def test_a_boundary_beyond_the_sequence_is_refused():
    px, py = scores(27)
    with pytest.raises(AssertionError):
        fast_rnnt.mutual_information_recursion(px, py, torch.tensor([[0, 0, 4, 5], [0, 0, 3, 5]]))


# ---- losses --------------------------------------------------------------------------------------------------------

def log_softmax(values):
    return values - np.logaddexp.reduce(values, axis=-1, keepdims=True)


def steps(logits, symbols, kind):
    """Logarithms of probabilities of symbols and of blanks, from logits of [B][T][S + 1][C]."""
    logs = log_softmax(array(logits)).transpose(0, 2, 1, 3)
    symbols = symbols.numpy()
    px = np.stack([[logs[b, s, :, symbols[b, s]] for s in range(S)] for b in range(B)])
    py = logs[..., BLANK].copy()
    if kind == "constrained":
        px = px + py[:, 1:]
    return (px, py) if kind != "regular" else (np.concatenate([px, np.full((B, S, 1), -np.inf)], 2), py)


def expected_loss(logits, symbols, kind="regular", boundary=None):
    px, py = steps(logits, symbols, kind)
    if boundary is not None and kind == "regular":
        for b, line in enumerate(boundary.tolist()):
            px[b, :, line[3]] = -np.inf
    return -total(px, py, None if boundary is None else boundary.tolist(), kind != "regular")


def joint(seed, dtype=torch.float64):
    return normal(seed, B, T, S + 1, C, dtype=dtype), whole(seed, 1, C, B, S)


def parts(seed, dtype=torch.float64):
    """What a language model and an acoustic model say, whose sum are logits."""
    return normal(seed, B, S + 1, C, dtype=dtype), normal(seed + 1, B, T, C, dtype=dtype), whole(seed, 1, C, B, S)


def joined(lm, am):
    return am.unsqueeze(2) + lm.unsqueeze(1)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("kind", KINDS)
def test_the_loss_is_that_of_all_alignments(kind, dtype):
    logits, symbols = joint(29, dtype)
    loss = fast_rnnt.rnnt_loss(logits, symbols, BLANK, rnnt_type=kind, reduction="none")
    assert_close(loss, expected_loss(logits, symbols, kind))


@pytest.mark.parametrize("kind", KINDS)
def test_the_loss_within_boundaries(kind):
    logits, symbols = joint(31)
    loss = fast_rnnt.rnnt_loss(logits, symbols, BLANK, BOUNDARY, rnnt_type=kind, reduction="none")
    assert_close(loss, expected_loss(logits, symbols, kind, BOUNDARY))


@pytest.mark.parametrize("reduction", ["mean", "sum"])
def test_the_loss_is_reduced(reduction):
    logits, symbols = joint(33)
    expected = getattr(np, reduction)(expected_loss(logits, symbols))
    assert_close(fast_rnnt.rnnt_loss(logits, symbols, BLANK, reduction=reduction), expected)


def test_an_unknown_reduction_is_refused():
    logits, symbols = joint(35)
    with pytest.raises(ValueError):
        fast_rnnt.rnnt_loss(logits, symbols, BLANK, reduction="median")


@pytest.mark.parametrize("kind", KINDS)
def test_the_loss_has_the_gradient_of_its_values(kind):
    logits, symbols = joint(37)
    assert_gradients(lambda logits: fast_rnnt.rnnt_loss(logits, symbols, BLANK, rnnt_type=kind), logits)


def test_a_delay_penalty_rewards_early_symbols():
    logits, symbols = joint(39)
    px, py = steps(logits, symbols, "regular")
    expected = -total(px + 0.3 * ((T - 1) / 2 - np.arange(T + 1)), py)
    loss = fast_rnnt.rnnt_loss(logits, symbols, BLANK, delay_penalty=0.3, reduction="none")
    assert_close(loss, expected)


@pytest.mark.parametrize("kind", KINDS)
def test_the_simple_loss_is_that_of_the_sum_of_two_models(kind):
    lm, am, symbols = parts(41)
    loss = fast_rnnt.rnnt_loss_simple(lm, am, symbols, BLANK, rnnt_type=kind, reduction="none")
    assert_close(loss, expected_loss(joined(lm, am), symbols, kind))


def test_the_simple_loss_within_boundaries():
    lm, am, symbols = parts(43)
    loss = fast_rnnt.rnnt_loss_simple(lm, am, symbols, BLANK, BOUNDARY, reduction="none")
    assert_close(loss, expected_loss(joined(lm, am), symbols, boundary=BOUNDARY))


def test_the_simple_loss_has_the_gradient_of_its_values():
    lm, am, symbols = parts(45)
    assert_gradients(lambda lm, am: fast_rnnt.rnnt_loss_simple(lm, am, symbols, BLANK), lm, am)


@pytest.mark.parametrize("kind", KINDS)
def test_scores_of_two_models_are_normalised(kind):
    lm, am, symbols = parts(47)
    px, py = fast_rnnt.get_rnnt_logprobs(lm, am, symbols, BLANK, rnnt_type=kind)
    expected_px, expected_py = steps(joined(lm, am), symbols, kind)
    assert_close(px, expected_px)
    assert_close(py, expected_py)


@pytest.mark.parametrize("kind", KINDS)
def test_scores_of_logits_are_normalised(kind):
    logits, symbols = joint(49)
    px, py = fast_rnnt.get_rnnt_logprobs_joint(logits, symbols, BLANK, rnnt_type=kind)
    expected_px, expected_py = steps(logits, symbols, kind)
    assert_close(px, expected_px)
    assert_close(py, expected_py)


def test_the_smoothed_loss_without_smoothing_is_the_simple_one():
    lm, am, symbols = parts(51)
    loss = fast_rnnt.rnnt_loss_smoothed(lm, am, symbols, BLANK, lm_only_scale=0.0, am_only_scale=0.0, reduction="none")
    assert_close(loss, expected_loss(joined(lm, am), symbols))


def test_the_smoothed_loss_mixes_in_the_language_model():
    lm, am, symbols = parts(53)
    px, py = steps(joined(lm, am), symbols, "regular")
    only_px, only_py = steps(joined(lm, torch.zeros_like(am)), symbols, "regular")
    expected = -total(0.75 * px + 0.25 * only_px, 0.75 * py + 0.25 * only_py)
    loss = fast_rnnt.rnnt_loss_smoothed(lm, am, symbols, BLANK, lm_only_scale=0.25, am_only_scale=0.0, reduction="none")
    assert_close(loss, expected)


def test_the_smoothed_loss_mixes_in_the_acoustic_model():
    lm, am, symbols = parts(55)
    px, py = steps(joined(lm, am), symbols, "regular")
    unigram = torch.from_numpy(np.log(np.exp(log_softmax(array(lm))).mean((0, 1)))).expand(B, S + 1, C)
    only_px, only_py = steps(joined(unigram, am), symbols, "regular")
    expected = -total(0.75 * px + 0.25 * only_px, 0.75 * py + 0.25 * only_py)
    loss = fast_rnnt.rnnt_loss_smoothed(lm, am, symbols, BLANK, lm_only_scale=0.0, am_only_scale=0.25, reduction="none")
    assert_close(loss, expected)


# ---- pruning -------------------------------------------------------------------------------------------------------

def ranges_of(seed, s_range, boundary=BOUNDARY):
    lm, am, symbols = parts(seed)
    _, (of_px, of_py) = fast_rnnt.rnnt_loss_simple(lm, am, symbols, BLANK, boundary, return_grad=True)
    return fast_rnnt.get_rnnt_prune_ranges(of_px, of_py, boundary, s_range), lm, am, symbols


@pytest.mark.parametrize("s_range", [2, 3])
def test_ranges_rise_slowly_from_the_first_symbol_to_the_last(s_range):
    ranges = ranges_of(57, s_range)[0].numpy()
    assert ranges.shape == (B, T, s_range)
    assert (np.diff(ranges, axis=2) == 1).all() and (ranges[:, 0, 0] == 0).all()
    rise = np.diff(ranges[:, :, 0], axis=1)
    assert (rise >= 0).all() and (rise < s_range).all()
    for line, (_, _, last, end) in zip(ranges, BOUNDARY.tolist()):
        assert last in line[end - 1]


def test_ranges_of_all_symbols_prune_nothing():
    ranges, lm, am, symbols = ranges_of(59, S + 1)
    assert ranges.tolist() == np.broadcast_to(np.arange(S + 1), (B, T, S + 1)).tolist()
    pruned_am, pruned_lm = fast_rnnt.do_rnnt_pruning(am, lm, ranges)
    loss = fast_rnnt.rnnt_loss_pruned(pruned_am + pruned_lm, symbols, ranges, BLANK, BOUNDARY, reduction="none")
    assert_close(loss, expected_loss(joined(lm, am), symbols, boundary=BOUNDARY))


def test_pruning_takes_the_rows_of_the_ranges():
    ranges, lm, am, _ = ranges_of(61, 2)
    pruned_am, pruned_lm = fast_rnnt.do_rnnt_pruning(am, lm, ranges)
    assert_close(pruned_am, np.repeat(array(am)[:, :, None], 2, 2))
    assert_close(pruned_lm, np.stack([array(lm)[b][ranges[b].numpy()] for b in range(B)]))


def pruned_loss(lm, am, symbols, ranges):
    pruned_am, pruned_lm = fast_rnnt.do_rnnt_pruning(am, lm, ranges)
    return fast_rnnt.rnnt_loss_pruned(pruned_am + pruned_lm, symbols, ranges, BLANK, BOUNDARY, reduction="none")


@pytest.mark.parametrize("s_range", [2, 3])
def test_the_pruned_loss_is_that_of_alignments_within_the_ranges(s_range):
    ranges, lm, am, symbols = ranges_of(63, s_range)
    px, py = steps(joined(lm, am), symbols, "regular")
    for b in range(B):
        px[b, :, BOUNDARY[b, 3]:] = -np.inf
        for t in range(T):
            outside = np.setdiff1d(np.arange(S + 1), ranges[b, t].numpy())
            px[b, outside[outside < S], t] = -np.inf
            py[b, outside, t] = -np.inf
    assert_close(pruned_loss(lm, am, symbols, ranges), -total(px, py, BOUNDARY.tolist()))


def test_the_pruned_loss_has_the_gradient_of_its_values():
    ranges, lm, am, symbols = ranges_of(65, 2)
    assert_gradients(lambda lm, am: pruned_loss(lm, am, symbols, ranges), lm, am)


# ---- the module ----------------------------------------------------------------------------------------------------

def test_a_module_without_cuda_says_so():
    assert fast_rnnt.with_cuda() is False


def test_the_module_takes_its_arguments_by_name():
    import _fast_rnnt

    px, py = scores(67)
    p = torch.empty(B, S + 1, T + 1, dtype=torch.float64)
    assert_close(_fast_rnnt.mutual_information_forward(px=px, py=py, boundary=None, p=p), total(array(px), array(py)))
    assert_close(p[:, S, T], total(array(px), array(py)))


def test_the_module_checks_the_dtype_of_a_boundary():
    import _fast_rnnt

    px, py = scores(69)
    with pytest.raises(RuntimeError):
        _fast_rnnt.mutual_information_forward(px, py, BOUNDARY.float(), torch.empty(B, S + 1, T + 1, dtype=torch.float64))
