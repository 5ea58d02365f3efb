"""L-BFGS: steps along the gradient times an estimate of the inverse Hessian."""

from __future__ import annotations

from typing import Any, Callable

import keyway
from keyway._C import Tensor
from keyway.autograd.grad_mode import enable_grad, no_grad
from keyway.optim._strong_wolfe import Point, StrongWolfe
from keyway.optim.optimizer import Optimizer, Params


class LBFGS(Optimizer):
    """Each step() makes up to `max_iter` iterations, with at most about `max_eval` (max_iter * 5 / 4 by default) calls
    of the closure:

        parameters += t * d,   d = -(inverse Hessian, estimated from the last `history_size` changes) * gradient

    t is `lr`, in the first iteration lr * min(1, 1 / |gradient|_1); with line_search_fn="strong_wolfe" that is where
    the search for t begins. A step ends early where no element of the gradient exceeds `tolerance_grad`, or neither
    parameters nor the loss change by more than `tolerance_change`. There is one group of parameters.
    """

    def __init__(self, params: Params, lr: float = 1, max_iter: int = 20, max_eval: int | None = None,
                 tolerance_grad: float = 1e-7, tolerance_change: float = 1e-9, history_size: int = 100,
                 line_search_fn: str | None = None, *, maximize: bool = False) -> None:
        if not lr >= 0:
            raise ValueError(f"Invalid learning rate: {lr}")
        if max_eval is None:
            max_eval = max_iter * 5 // 4
        super().__init__(params, {"lr": lr, "max_iter": max_iter, "max_eval": max_eval,
                                  "tolerance_grad": tolerance_grad, "tolerance_change": tolerance_change,
                                  "history_size": history_size, "line_search_fn": line_search_fn,
                                  "maximize": maximize})
        if len(self.param_groups) != 1:
            raise ValueError("LBFGS doesn't support per-parameter options (parameter groups)")

    def step(self, closure: Callable[[], Any]) -> Any:  # type: ignore[override]  # which it cannot do without
        """Makes iterations. `closure` computes the loss and the gradients; its first result is returned.

        Where it raises, the parameters stay where it was called, as in PyTorch: within a line search that may be far
        along the direction."""
        if closure is None:
            raise keyway.TypeError("LBFGS.step calls its closure: it cannot be None")
        group = self.param_groups[0]
        if group["line_search_fn"] not in (None, "strong_wolfe"):
            raise keyway.Error("only 'strong_wolfe' is supported")
        with no_grad():
            return _Step(group, self.state[group["params"][0]], closure).run()


class _Step:
    """One call of step()."""

    def __init__(self, group: dict[str, Any], state: dict[str, Any], closure: Callable[[], Any]) -> None:
        self.group = group
        self.params: list[Tensor] = group["params"]
        self.closure = closure
        self.state = state
        self.evaluations = 0
        state.setdefault("func_evals", 0)
        state.setdefault("n_iter", 0)

    def run(self) -> Any:
        state, group = self.state, self.group
        first, loss = self._evaluate()
        grad = self._flat_grad()
        iterations = 0
        while iterations < group["max_iter"] and not self._is_flat(grad):
            iterations += 1
            state["n_iter"] += 1
            direction = self._direction(grad)
            t = float(group["lr"])
            if state["n_iter"] == 1:
                t *= min(1.0, 1 / _number(grad.abs().sum()))
            state.update(d=direction, t=t, prev_flat_grad=grad, prev_loss=loss)
            slope = _number(keyway.dot(grad, direction))
            if slope > -group["tolerance_change"]:
                break
            old_loss = loss
            if group["line_search_fn"] is not None:
                found = self._search(Point(0.0, loss, grad, slope), direction, t)
                t, loss, grad = found.t, found.loss, found.grad
                state["t"] = t
                self._move(t, direction)
            else:
                self._move(t, direction)
                if iterations < group["max_iter"]:
                    _, loss = self._evaluate()
                    grad = self._flat_grad()
            if (self.evaluations >= group["max_eval"]
                    or _number(direction.mul(t).abs().max()) <= group["tolerance_change"]
                    or abs(loss - old_loss) < group["tolerance_change"]):
                break
        return first

    def _evaluate(self) -> tuple[Any, float]:
        """What the closure returns, and the number that is made small."""
        self.evaluations += 1
        self.state["func_evals"] += 1
        with enable_grad():
            result = self.closure()
        loss = _number(result)
        return result, -loss if self.group["maximize"] else loss

    def _flat_grad(self) -> Tensor:
        parts = []
        for parameter in self.params:
            grad = parameter.grad
            flat = keyway.zeros_like(parameter) if grad is None else grad.detach()
            parts.append((keyway.view_as_real(flat) if flat.is_complex() else flat).reshape(-1))
        grad = keyway.cat(parts)
        return grad.neg() if self.group["maximize"] else grad

    def _is_flat(self, grad: Tensor) -> bool:
        return _number(grad.abs().max()) <= float(self.group["tolerance_grad"])

    def _move(self, t: float, direction: Tensor) -> None:
        at = 0
        for parameter in self.params:
            real = keyway.view_as_real(parameter) if parameter.is_complex() else parameter
            count = real.numel()
            real.add_(direction.narrow(0, at, count).view_as(real), alpha=t)
            at += count

    def _search(self, start: Point, direction: Tensor, t: float) -> Point:
        begin = [parameter.clone() for parameter in self.params]

        def at(t: float) -> Point:
            self._move(t, direction)
            _, loss = self._evaluate()
            grad = self._flat_grad()
            for parameter, value in zip(self.params, begin):
                parameter.copy_(value)
            return Point(t, loss, grad, _number(keyway.dot(grad, direction)))

        return StrongWolfe(at, start, _number(direction.abs().max()), 1e-9).search(t)

    def _direction(self, grad: Tensor) -> Tensor:
        """Minus the gradient times the inverse Hessian that the changes so far suggest."""
        state = self.state
        if state["n_iter"] == 1:
            state.update(old_dirs=[], old_stps=[], ro=[], H_diag=1.0)
            return grad.neg()
        self._remember(grad)
        changes = list(zip(state["old_dirs"], state["old_stps"], state["ro"]))
        direction = grad.neg()
        parts = []
        for y, s, ro in reversed(changes):
            parts.append(keyway.dot(s, direction).mul(ro))
            direction = direction.sub(y.mul(parts[-1]))
        direction = direction.mul(state["H_diag"])
        for (y, s, ro), part in zip(changes, reversed(parts)):
            direction = direction.add(s.mul(part.sub(keyway.dot(y, direction).mul(ro))))
        return direction

    def _remember(self, grad: Tensor) -> None:
        """Takes in the last step and what it changed of the gradient, if the function curves upwards there."""
        state = self.state
        y, s = grad.sub(state["prev_flat_grad"]), state["d"].mul(state["t"])
        product = keyway.dot(y, s)
        if not _number(product) > 1e-10:
            return
        if len(state["old_dirs"]) == self.group["history_size"]:
            for name in ("old_dirs", "old_stps", "ro"):
                state[name].pop(0)
        state["old_dirs"].append(y)
        state["old_stps"].append(s)
        state["ro"].append(product.reciprocal())
        state["H_diag"] = product.div(keyway.dot(y, y))


def _number(value: Any) -> float:
    return float(value.detach()) if isinstance(value, Tensor) else float(value)
