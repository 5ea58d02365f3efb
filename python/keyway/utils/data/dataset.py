"""Datasets: examples by number, or one after the other."""

from __future__ import annotations

import bisect
import itertools
import math
import warnings
from typing import Any, Generic, Iterable, Iterator, Sequence, TypeVar

import keyway
from keyway._C import Generator, Tensor

T = TypeVar("T", covariant=True)


class Dataset(Generic[T]):
    """Examples by number: a subclass defines __getitem__, and __len__ as far as it is known."""

    def __getitem__(self, index: Any) -> T:
        raise NotImplementedError("Subclasses of Dataset should implement __getitem__.")

    def __add__(self, other: Dataset[Any]) -> ConcatDataset:
        return ConcatDataset([self, other])


class IterableDataset(Dataset[T]):
    """Examples one after the other: a subclass defines __iter__.

    With several workers each iterates it: __iter__ asks get_worker_info() which part it is to give.
    """

    def __iter__(self) -> Iterator[T]:
        raise NotImplementedError("Subclasses of IterableDataset should implement __iter__.")

    def __add__(self, other: Any) -> ChainDataset:  # type: ignore[override]
        return ChainDataset([self, other])


def examples_of(dataset: Any, indices: list[int]) -> list[Any]:
    """Several examples of a dataset, all at once if it gives them so."""
    several = getattr(dataset, "__getitems__", None)
    return list(several(indices)) if several else [dataset[i] for i in indices]


class TensorDataset(Dataset[tuple[Tensor, ...]]):
    """Example i is the i-th row of each tensor. Raises ValueError for tensors of different first sizes."""

    def __init__(self, *tensors: Tensor) -> None:
        if any(tensor.size(0) != tensors[0].size(0) for tensor in tensors):
            raise ValueError("TensorDataset takes tensors of one first size")
        self.tensors = tensors

    def __getitem__(self, index: Any) -> tuple[Tensor, ...]:
        return tuple(tensor[index] for tensor in self.tensors)

    def __len__(self) -> int:
        return self.tensors[0].size(0)


class StackDataset(Dataset[Any]):
    """Example i is the i-th of each dataset: in a tuple, or in a dict for datasets that are keywords.

    Raises ValueError for datasets of different sizes, of both kinds, or for none.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        if bool(args) == bool(kwargs):
            raise ValueError("StackDataset takes datasets, either as arguments or as keywords")
        self.datasets: Any = args or kwargs
        sizes = [len(dataset) for dataset in args or kwargs.values()]
        if len(set(sizes)) > 1:
            raise ValueError(f"the datasets of a StackDataset have different sizes: {sizes}")
        self._length = sizes[0]

    def __getitem__(self, index: Any) -> Any:
        if isinstance(self.datasets, dict):
            return {name: dataset[index] for name, dataset in self.datasets.items()}
        return tuple(dataset[index] for dataset in self.datasets)

    def __getitems__(self, indices: list[int]) -> list[Any]:
        """Several examples, all at once from the datasets that give them so. Raises ValueError for a dataset that gives
        another number of them."""
        datasets = list(self.datasets.values()) if isinstance(self.datasets, dict) else self.datasets
        columns = [examples_of(dataset, indices) for dataset in datasets]
        if any(len(column) != len(indices) for column in columns):
            raise ValueError(f"a dataset of a StackDataset was asked for {len(indices)} examples and gave "
                             f"{[len(column) for column in columns]}")
        rows = list(zip(*columns))
        return [dict(zip(self.datasets, row)) for row in rows] if isinstance(self.datasets, dict) else rows

    def __len__(self) -> int:
        return self._length


class ConcatDataset(Dataset[Any]):
    """Datasets one behind the other."""

    def __init__(self, datasets: Iterable[Dataset[Any]]) -> None:
        self.datasets = list(datasets)
        if not self.datasets:
            raise ValueError("datasets should not be an empty iterable")
        if any(isinstance(dataset, IterableDataset) for dataset in self.datasets):
            raise ValueError("ConcatDataset does not support IterableDataset")
        self.cumulative_sizes = self.cumsum(self.datasets)

    @staticmethod
    def cumsum(sequence: Iterable[Any]) -> list[int]:
        """How many examples the datasets up to each have together."""
        return list(itertools.accumulate(len(dataset) for dataset in sequence))

    def __len__(self) -> int:
        return self.cumulative_sizes[-1]

    def __getitem__(self, index: int) -> Any:
        if index < -len(self):
            raise ValueError(f"index {index} lies before the first of {len(self)} examples")
        if index >= len(self):
            raise IndexError(f"index {index} is out of range: there are {len(self)} examples")
        index %= len(self)
        which = bisect.bisect_right(self.cumulative_sizes, index)
        return self.datasets[which][index - (self.cumulative_sizes[which - 1] if which > 0 else 0)]


class ChainDataset(IterableDataset[Any]):
    """Iterable datasets one after the other."""

    def __init__(self, datasets: Iterable[Dataset[Any]]) -> None:
        self.datasets = list(datasets)

    def __iter__(self) -> Iterator[Any]:
        for dataset in self.datasets:
            if not isinstance(dataset, IterableDataset):
                raise TypeError("ChainDataset only supports IterableDataset")
            yield from dataset

    def __len__(self) -> int:
        return sum(len(dataset) for dataset in self.datasets)  # type: ignore[arg-type, misc]


class Subset(Dataset[T]):
    """The examples of these numbers."""

    def __init__(self, dataset: Dataset[T], indices: Sequence[int]) -> None:
        self.dataset = dataset
        self.indices = indices

    def __getitem__(self, index: Any) -> T:
        return self.dataset[[self.indices[i] for i in index] if isinstance(index, list) else self.indices[index]]

    def __getitems__(self, indices: list[int]) -> list[T]:
        """Several examples, all at once if the dataset gives them so."""
        return examples_of(self.dataset, [self.indices[i] for i in indices])

    def __len__(self) -> int:
        return len(self.indices)


def random_split(dataset: Dataset[T], lengths: Sequence[float], generator: Generator | None = None) -> list[Subset[T]]:
    """Parts of a dataset that share no example, drawn at random.

    `lengths` are numbers of examples that sum up to all, or parts of 1 that sum up to 1; what rounding leaves goes to
    the first parts, one each. Raises ValueError for other lengths.
    """
    total = len(dataset)  # type: ignore[arg-type]
    counts = _counts(lengths, total)
    if sum(counts) != total:
        raise ValueError(f"the lengths sum up to {sum(counts)}, but the dataset has {total} examples")
    order = keyway.randperm(total, generator=generator, device="cpu").tolist()
    ends = list(itertools.accumulate(counts))
    return [Subset(dataset, order[end - count:end]) for count, end in zip(counts, ends)]


def _counts(lengths: Sequence[float], total: int) -> list[int]:
    if not math.isclose(sum(lengths), 1) or sum(lengths) > 1:
        return [int(length) for length in lengths]
    if any(not 0 <= part <= 1 for part in lengths):
        raise ValueError(f"the parts are {list(lengths)}, but must be between 0 and 1")
    counts = [math.floor(total * part) for part in lengths]
    for i in range(total - sum(counts)):
        counts[i % len(counts)] += 1
    for i, count in enumerate(counts):
        if count == 0:
            warnings.warn(f"Length of split at index {i} is 0. This might result in an empty dataset.", stacklevel=3)
    return counts
