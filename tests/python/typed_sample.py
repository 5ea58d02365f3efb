"""What a user of types writes: mypy --strict is to take all of this, and nothing of wrong_calls.py."""

from __future__ import annotations

from collections.abc import Sequence

import keyway
from keyway import Tensor, return_types
from keyway.types import Device, Number


def affine(x: Tensor, scale: Number, shift: Tensor | None = None) -> Tensor:
    y = x.mul(scale)
    return y if shift is None else keyway.add(y, shift, alpha=2)


def largest(x: Tensor, dim: int) -> tuple[Tensor, Tensor]:
    found: return_types.max = keyway.max(x, dim)
    values, indices = found
    return found.values.add(values), indices


def make(shape: Sequence[int], device: Device = "cpu") -> Tensor:
    made = keyway.zeros(shape, dtype=keyway.float32, device=device, requires_grad=True)
    keyway.add(made.detach(), 1, out=keyway.empty(shape))
    return made.view(-1).view((2, 3)).permute(1, 0)


def parts(x: Tensor) -> list[int]:
    pieces: tuple[Tensor, ...] = keyway.split(x, 2)
    return [piece.size(0) for piece in pieces]


class Scaled(Tensor):
    factor: float


class Model(keyway.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.linear = keyway.nn.Linear(3, 1)

    def forward(self, x: Tensor) -> Tensor:
        return keyway.nn.functional.relu(self.linear(x))


def indexed(x: Tensor) -> Tensor:
    y = (2 - x * 2.5 + 1) @ x.t() if x.dim() == 2 else -x
    mask = (y > 0) & (y != 1)
    y[mask] = 3
    y[0] += 1
    return y[..., None, 0].to(keyway.float64).cpu()


def trained(steps: int) -> float:
    model, data = Model(), keyway.tensor([[1.0, 2.0, 3.0]])
    optimizer = keyway.optim.SGD(model.parameters(), lr=0.1)
    for _ in range(steps):
        optimizer.zero_grad()
        loss: Tensor = keyway.nn.functional.mse_loss(model(data), keyway.ones(1, 1))
        loss.backward()
        optimizer.step()
    with keyway.no_grad():
        return float(model(data).sum())


def main() -> None:
    indexed(keyway.ones(2, 3))
    print(trained(2))
    x = make((6,))
    total: Tensor = affine(x, 2.5).sum()
    number: Number = total.item()
    first: int = x.shape[0]
    where: keyway.device = x.device
    kind: keyway.dtype = x.dtype
    gradient: Tensor | None = x.grad
    generator = keyway.Generator().manual_seed(1)
    drawn = keyway.rand(2, 3, generator=generator).uniform_(0, 1).random_(0, 10)
    try:
        keyway.mm(x, drawn)
    except keyway.IndexError as error:
        print(error)
    except keyway.Error as error:
        print(error, number, first, where, kind, gradient)
    keyway.testing.assert_close(largest(x.detach(), 0)[0], x.detach().sum(0), msg="as expected")


if __name__ == "__main__":
    main()
