"""Graphs whose constants are computed once. The oracle is the same program run eagerly."""

import pytest

import keyway as kw
from keyway import graph, nn


def names(captured: graph.Graph) -> list[str]:
    return [name.removeprefix("keyway::") for name, _ in captured.nodes()]


def test_what_depends_on_state_alone_is_computed_once() -> None:
    weight = kw.randn(3, 4)

    def program(x: kw.Tensor) -> kw.Tensor:
        return x @ (weight.exp() * 2 + kw.ones(4)).t()

    frozen = graph.capture(program, kw.ones(2, 4)).frozen()
    assert names(frozen) == ["t", "mm"] or names(frozen) == ["transpose.int", "mm"]
    x = kw.randn(2, 4)
    assert kw.equal(frozen(x), program(x))


def test_a_frozen_graph_does_not_hold_once_its_state_is_written_to() -> None:
    weight = kw.ones(3)
    frozen = graph.capture(lambda x: x + weight.exp(), kw.ones(3)).frozen()
    weight.mul_(2)
    with pytest.raises(kw.ValueError, match="has been written to since the graph was frozen"):
        frozen(kw.ones(3))


def test_a_frozen_graph_does_not_hold_for_state_in_other_memory() -> None:
    weight = kw.nn.Parameter(kw.ones(3))
    with kw.no_grad():
        frozen = graph.capture(lambda x: x + weight.exp(), kw.ones(3)).frozen()
        weight.data = kw.zeros(3)
        with pytest.raises(kw.ValueError, match="since the graph was frozen"):
            frozen(kw.ones(3))


def test_state_that_the_graph_writes_to_stays_state() -> None:
    count = kw.zeros(1)

    def counted(x: kw.Tensor) -> kw.Tensor:
        count.add_(1)
        return x + count.exp()

    frozen = graph.capture(counted, kw.ones(3)).frozen()
    count.fill_(1)
    assert kw.equal(frozen(kw.ones(3)), 1 + kw.full((3,), 2.0).exp())
    assert count.item() == 2


def test_constants_that_leave_are_new_in_each_run_and_random_numbers_stay_random() -> None:
    weight = kw.ones(3)

    def program() -> tuple[kw.Tensor, kw.Tensor]:
        return weight.exp(), kw.rand(8) + weight.exp().sum()

    frozen = graph.capture(program).frozen()
    first, second = frozen(), frozen()
    first[0].zero_()
    assert kw.equal(second[0], weight.exp()) and not kw.equal(first[1], second[1])


def test_compile_with_freeze_follows_writes_to_parameters() -> None:
    model = nn.Sequential(nn.Conv2d(3, 4, 3), nn.BatchNorm2d(4), nn.ReLU()).eval()
    x = kw.randn(2, 3, 8, 8)
    with kw.no_grad():
        compiled = kw.compile(model, freeze=True)
        for _ in range(3):
            compiled(x)
            kw.testing.assert_close(compiled(x), model(x))
            model[1].running_mean.add_(1)
            model[0].weight.mul_(1.5)


@pytest.mark.parametrize("convolution, norm, shape", [
    (nn.Conv1d(2, 4, 3), nn.BatchNorm1d(4), (2, 2, 9)),
    (nn.Conv2d(4, 6, 3, groups=2, bias=False), nn.BatchNorm2d(6), (2, 4, 8, 8)),
    (nn.Conv3d(2, 4, 2, stride=2), nn.BatchNorm3d(4), (1, 2, 6, 6, 6)),
])
def test_batch_normalization_becomes_a_part_of_the_convolution(convolution: nn.Module, norm: nn.Module,
                                                               shape: tuple[int, ...]) -> None:
    model = nn.Sequential(convolution, norm).double()
    for _ in range(3):
        model(kw.randn(*shape).double() * 3 + 1)
    model.eval()
    x = kw.randn(*shape).double()
    with kw.no_grad():
        folded = graph.capture(model, x).with_folded_batch_norm()
        frozen = folded.frozen()
        kw.testing.assert_close(folded(x), model(x), rtol=1e-12, atol=1e-12)
        kw.testing.assert_close(frozen(x), model(x), rtol=1e-12, atol=1e-12)
    assert [name for name in names(frozen) if name != "view"] == ["convolution"]


def test_a_convolution_whose_result_is_used_twice_is_not_folded() -> None:
    convolution, norm = nn.Conv2d(2, 2, 1), nn.BatchNorm2d(2).eval()

    def program(x: kw.Tensor) -> kw.Tensor:
        y = convolution(x)
        result: kw.Tensor = y + norm(y)
        return result

    x = kw.randn(1, 2, 4, 4)
    with kw.no_grad():
        captured = graph.capture(program, x)
        assert "addcmul" in names(captured.with_folded_batch_norm())
        assert kw.equal(captured.with_folded_batch_norm()(x), program(x))


@pytest.mark.parametrize("value", [1j, 2, 1 + 0j])
def test_a_normalization_by_another_factor_is_not_folded(value: complex) -> None:
    def program(x: kw.Tensor, scale: kw.Tensor, shift: kw.Tensor) -> kw.Tensor:
        return kw.addcmul(shift, x, scale, value=value)

    arguments = [kw.randn(3, dtype=kw.complex64) for _ in range(3)]
    captured = graph.capture(program, *arguments).with_folded_batch_norm()
    assert kw.equal(captured(*arguments), program(*arguments))


def test_an_input_that_is_written_to_before_the_normalization_is_convolved_before() -> None:
    convolution, norm = nn.Conv2d(2, 2, 1), nn.BatchNorm2d(2).eval()

    def program(x: kw.Tensor) -> kw.Tensor:
        y = convolution(x)
        x.zero_()
        result: kw.Tensor = norm(y)
        return result

    x = kw.randn(1, 2, 4, 4)
    with kw.no_grad():
        captured = graph.capture(program, x.clone()).with_folded_batch_norm()
        assert kw.equal(captured(x.clone()), program(x.clone()))


def test_a_program_as_it_is_written_cannot_be_frozen() -> None:
    with pytest.raises(kw.ValueError, match="only a graph of what is executed can be frozen"):
        graph.capture(lambda x: x.exp(), kw.ones(2), level="program").frozen()


def test_products_of_several_rows_take_a_copy_of_a_weight_that_lies_as_they_read_it() -> None:
    weight, bias = kw.randn(16, 8), kw.randn(16)

    def program(x: kw.Tensor) -> kw.Tensor:
        return nn.functional.linear(x, weight, bias) + x @ weight.t()

    for rows, copies in ((12, 1), (3, 0)):
        x = kw.randn(rows, 8)
        ordered = graph.capture(program, x).without_common_subexpressions().with_ordered_weights()
        assert names(ordered).count("clone") == copies
        kw.testing.assert_close(ordered(x), program(x))
        frozen = ordered.frozen()
        assert "clone" not in names(frozen) and names(frozen)[-3:] == ["addmm", "mm", "add.Tensor"]
        kw.testing.assert_close(frozen(x), program(x))


def test_weights_that_the_graph_writes_to_or_is_given_are_not_copied() -> None:
    weight = kw.randn(16, 8)

    def trained(x: kw.Tensor) -> kw.Tensor:
        weight.mul_(0.5)
        return x @ weight.t()

    x = kw.randn(12, 8)
    assert "clone" not in names(graph.capture(trained, x).with_ordered_weights())
    given = graph.capture(lambda x, w: x @ w.t(), x, weight).with_ordered_weights()
    assert "clone" not in names(given)
