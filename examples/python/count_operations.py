"""Counts the calls of a training step by operator, and the floating-point operations of its products: a mode."""

from collections import Counter

import keyway
from keyway import nn, ops
from keyway.utils.python_dispatch import KeywayDispatchMode

_KEYWAY = ops.keyway


def _of_mm(a, b):
    return 2 * a.shape[0] * a.shape[1] * b.shape[1]


def _of_bmm(a, b):
    return a.shape[0] * _of_mm(a[0], b[0])


# Floating-point operations of a call, by its arguments.
FORMULAS = {_KEYWAY.mm.default: _of_mm, _KEYWAY.bmm.default: _of_bmm,
            _KEYWAY.addmm.default: lambda bias, a, b, **scales: _of_mm(a, b)}  # fmt: skip


class OperationCounter(KeywayDispatchMode):
    """How often each operator was called within the block, forward and backward, and what its products cost."""

    def __init__(self):
        self.calls, self.flops = Counter(), Counter()

    def __keyway_dispatch__(self, func, types, args=(), kwargs=None):
        self.calls[func] += 1
        if func in FORMULAS:
            self.flops[func] += FORMULAS[func](*args, **(kwargs or {}))
        return func(*args, **(kwargs or {}))

    def table(self):
        rows = [f"{str(func):28} {count:6} {self.flops[func]:12,}" for func, count in self.calls.most_common()]
        return "\n".join([f"{'operator':28} {'calls':>6} {'flops':>12}", *rows])


def main():
    model = nn.Sequential(nn.Linear(64, 128), nn.ReLU(), nn.Linear(128, 10))
    optimizer = keyway.optim.SGD(model.parameters(), lr=0.1)
    x, labels = keyway.randn(32, 64), keyway.randint(0, 10, [32])
    with OperationCounter() as counter:
        nn.functional.cross_entropy(model(x), labels).backward()
        optimizer.step()
    print(counter.table())


if __name__ == "__main__":
    main()
