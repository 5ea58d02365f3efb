"""Passes on graphs, from Python. The oracle is the same program run eagerly."""

from typing import Any

import pytest

import keyway as kw
from keyway import graph
from keyway.func import functionalize


def names(captured: graph.Graph) -> list[str]:
    return [name.removeprefix("keyway::") for name, _ in captured.nodes()]


def changes(x: kw.Tensor, factor: float) -> dict[str, kw.Tensor]:
    y = x.relu()
    y[0].mul_(factor)
    x.t()[1].add_(y[:, 0])
    return {"row": y[0], "sum": y.sum(), "x": x}


def test_a_graph_without_changes_in_place_gives_what_the_program_gives() -> None:
    functional = graph.capture(changes, kw.randn(2, 3), 3.0).functionalized()
    assert [name for name in names(functional) if name.endswith("_") or "_." in name] == ["copy_"]
    x = kw.randn(2, 3)
    mine, theirs = x.clone(), x.clone()
    given, expected = functional(mine, 3.0), changes(theirs, 3.0)
    assert given["x"] is mine and kw.equal(mine, theirs)
    assert kw.equal(given["row"], expected["row"]) and kw.equal(given["sum"], expected["sum"])


def test_functionalize_calls_a_function_as_a_graph_without_changes() -> None:
    functional = functionalize(changes)
    for size in (3, 4, 3):
        x = kw.randn(2, size)
        mine, theirs = x.clone(), x.clone()
        given, expected = functional(mine, 2.0), changes(theirs, 2.0)
        assert kw.equal(mine, theirs) and kw.equal(given["row"], expected["row"])
        assert given["x"] is mine
    assert len(functional.graphs) == 2  # type: ignore[attr-defined]
    assert "mul_.Tensor" not in str(functional.graphs[0])  # type: ignore[attr-defined]


def test_what_cannot_be_functionalized_names_the_operator_and_the_line() -> None:
    def draw(x: kw.Tensor) -> kw.Tensor:
        return x.relu().exponential_()

    line = draw.__code__.co_firstlineno + 1
    with pytest.raises(kw.NotImplementedError, match=f"exponential_ at test_graph_passes.py:{line} writes"):
        graph.capture(draw, kw.ones(2)).functionalized()


def test_dead_code_and_common_subexpressions_go() -> None:
    def wasteful(x: kw.Tensor) -> kw.Tensor:
        x.sin()
        return x.exp() + x.exp()

    captured = graph.capture(wasteful, kw.ones(2))
    assert names(captured.without_dead_code()) == ["exp", "exp", "add.Tensor"]
    fewer = captured.without_dead_code().without_common_subexpressions()
    assert names(fewer) == ["exp", "add.Tensor"]
    x = kw.randn(2)
    assert kw.equal(fewer(x), wasteful(x))


@pytest.mark.parametrize("level", ["executed", "program"])
def test_patterns_are_replaced(level: str) -> None:
    def block(x: kw.Tensor, weights: list[kw.Tensor]) -> kw.Tensor:
        for weight in weights:
            x = (x @ weight).sigmoid() * (x @ weight)
        return x

    def gate(x: kw.Tensor, weight: kw.Tensor) -> kw.Tensor:
        return (x @ weight).sigmoid() * (x @ weight)

    def silu(x: kw.Tensor, weight: kw.Tensor) -> kw.Tensor:
        return kw.nn.functional.silu(x @ weight)

    weights = [kw.randn(3, 4), kw.randn(4, 5)]
    captured = graph.capture(block, kw.randn(2, 3), weights, level=level)
    replaced = graph.replace(captured, gate, silu, (kw.ones(1, 1), kw.ones(1, 1)))
    assert names(replaced).count("silu") == 2 and "sigmoid" not in names(replaced)
    x = kw.randn(2, 3)
    kw.testing.assert_close(replaced(x, weights), block(x, weights))


def test_a_function_that_writes_is_no_pattern() -> None:
    def write(x: kw.Tensor) -> Any:
        return x.zero_()

    captured = graph.capture(lambda x: x.relu(), kw.ones(2))
    with pytest.raises(kw.ValueError, match="replace: the pattern calls fill_.Scalar, which writes"):
        graph.replace(captured, write, kw.neg, (kw.ones(2),))


def test_a_training_step_without_changes_in_place_trains_as_the_step_does() -> None:
    class Training:
        def __init__(self) -> None:
            kw.manual_seed(0)
            self.model = kw.nn.Sequential(
                kw.nn.Linear(6, 8), kw.nn.BatchNorm1d(8), kw.nn.ReLU(inplace=True), kw.nn.Dropout(0.3), kw.nn.Linear(8, 2))
            self.optimizer = kw.optim.SGD(self.model.parameters(), lr=0.1, momentum=0.9, fused=False)
            self.step(kw.ones(8, 6))

        def step(self, x: kw.Tensor) -> kw.Tensor:
            self.optimizer.zero_grad()
            loss = self.model(x).pow(2).mean()
            loss.backward()
            self.optimizer.step()
            return loss.detach()

        def state(self) -> list[kw.Tensor]:
            gradients = [p.grad for p in self.model.parameters() if p.grad is not None]
            return [*self.model.state_dict().values(), *gradients]

    mine, theirs = Training(), Training()
    kw.manual_seed(1)
    captured = graph.capture(mine.step, kw.randn(8, 6))
    kw.manual_seed(1)
    theirs.step(kw.randn(8, 6))
    functional = captured.functionalized().without_common_subexpressions()
    assert {name for name in names(functional) if name.endswith("_")} == {"copy_"}
    for seed in range(3):
        kw.manual_seed(seed)
        loss = functional(kw.randn(8, 6))
        kw.manual_seed(seed)
        assert kw.equal(loss, theirs.step(kw.randn(8, 6)))
        assert all(kw.equal(a, b) for a, b in zip(mine.state(), theirs.state(), strict=True))
