"""Samplers: the order in which examples are taken."""

from __future__ import annotations

from typing import Any, Generic, Iterable, Iterator, Sequence, Sized, TypeVar

import keyway
from keyway._C import Generator

T = TypeVar("T", covariant=True)


class Sampler(Generic[T]):
    """Numbers of examples, or lists of them: a subclass defines __iter__, and __len__ if it is known."""

    def __iter__(self) -> Iterator[T]:
        raise NotImplementedError("Subclasses of Sampler should implement __iter__.")


def _is_count(value: Any, least: int) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= least


class SequentialSampler(Sampler[int]):
    """All examples in order."""

    def __init__(self, data_source: Sized) -> None:
        self.data_source = data_source

    def __iter__(self) -> Iterator[int]:
        return iter(range(len(self.data_source)))

    def __len__(self) -> int:
        return len(self.data_source)


class RandomSampler(Sampler[int]):
    """All examples in an order drawn anew each time; with `num_samples`, so many: more than there are begin again. With
    `replacement`, each is drawn among all."""

    def __init__(self, data_source: Sized, replacement: bool = False, num_samples: int | None = None,
                 generator: Generator | None = None) -> None:
        if not isinstance(replacement, bool):
            raise TypeError(f"replacement should be a boolean value, but got replacement={replacement}")
        self.data_source = data_source
        self.replacement = replacement
        self._num_samples = num_samples
        if not _is_count(self.num_samples, 1):
            raise ValueError(f"num_samples should be a positive integer value, but got num_samples={self.num_samples}")
        self.generator = generator

    @property
    def num_samples(self) -> int:
        """How many numbers come out."""
        return len(self.data_source) if self._num_samples is None else self._num_samples

    def __iter__(self) -> Iterator[int]:
        size, left = len(self.data_source), self.num_samples
        if size == 0 and left > 0:
            raise ValueError("there is no example to draw")
        generator = self.generator
        if generator is None:  # one of its own, as others may draw from the default one between the examples
            generator = Generator()
            generator.manual_seed(int(keyway.empty([], dtype=keyway.int64, device="cpu").random_()))
        while left > 0:
            if self.replacement:
                drawn = keyway.randint(size, [min(left, 1024)], generator=generator, device="cpu")
            else:
                drawn = keyway.randperm(size, generator=generator, device="cpu")
            yield from drawn.tolist()[:left]
            left -= drawn.numel()

    def __len__(self) -> int:
        return self.num_samples


class SubsetRandomSampler(Sampler[int]):
    """The given numbers in an order drawn anew each time."""

    def __init__(self, indices: Sequence[int], generator: Generator | None = None) -> None:
        self.indices = indices
        self.generator = generator

    def __iter__(self) -> Iterator[int]:
        drawn = keyway.randperm(len(self.indices), generator=self.generator, device="cpu")
        return (self.indices[i] for i in drawn.tolist())

    def __len__(self) -> int:
        return len(self.indices)


class WeightedRandomSampler(Sampler[int]):
    """`num_samples` numbers, drawn with probabilities in the ratio of `weights`."""

    def __init__(self, weights: Sequence[float], num_samples: int, replacement: bool = True,
                 generator: Generator | None = None) -> None:
        if not _is_count(num_samples, 1):
            raise ValueError(f"num_samples should be a positive integer value, but got num_samples={num_samples}")
        if not isinstance(replacement, bool):
            raise ValueError(f"replacement should be a boolean value, but got replacement={replacement}")
        device = weights.device if isinstance(weights, keyway.Tensor) else "cpu"
        self.weights = keyway.as_tensor(weights, dtype=keyway.float64, device=device)
        if self.weights.dim() != 1:
            raise ValueError(f"weights should be a 1d sequence but given weights have shape "
                             f"{tuple(self.weights.shape)}")
        self.num_samples = num_samples
        self.replacement = replacement
        self.generator = generator

    def __iter__(self) -> Iterator[int]:
        drawn = keyway.multinomial(self.weights, self.num_samples, self.replacement, generator=self.generator)
        return iter(drawn.tolist())

    def __len__(self) -> int:
        return self.num_samples


class BatchSampler(Sampler[list[int]]):
    """What another sampler gives, in lists of `batch_size`; the last may be smaller, and is left out if `drop_last`."""

    def __init__(self, sampler: Iterable[Any], batch_size: int, drop_last: bool) -> None:
        if not _is_count(batch_size, 1):
            raise ValueError(f"batch_size should be a positive integer value, but got batch_size={batch_size}")
        if not isinstance(drop_last, bool):
            raise ValueError(f"drop_last should be a boolean value, but got drop_last={drop_last}")
        self.sampler = sampler
        self.batch_size = batch_size
        self.drop_last = drop_last

    def __iter__(self) -> Iterator[list[int]]:
        batch: list[int] = []
        for index in self.sampler:
            batch.append(index)
            if len(batch) == self.batch_size:
                yield batch
                batch = []
        if batch and not self.drop_last:
            yield batch

    def __len__(self) -> int:
        size = len(self.sampler)  # type: ignore[arg-type]
        return size // self.batch_size if self.drop_last else -(-size // self.batch_size)
