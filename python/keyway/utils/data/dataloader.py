"""DataLoader: batches of a dataset's examples."""

from __future__ import annotations

import itertools
import warnings
from typing import Any, Callable, Iterable, Iterator, Sized

import keyway
from keyway import cuda
from keyway._C import Generator
from keyway.utils.data._pinning import pinned
from keyway.utils.data._workers import END, WorkerInfo, load_ahead
from keyway.utils.data.collate import default_collate, default_convert
from keyway.utils.data.dataset import Dataset, IterableDataset, examples_of
from keyway.utils.data.sampler import BatchSampler, RandomSampler, Sampler, SequentialSampler


class _Unlimited(Sampler[None]):
    """What an iterable dataset is asked for: the next example, again and again."""

    def __iter__(self) -> Iterator[None]:
        while True:
            yield None


class _Batches:
    """The batches of one time that a loader is iterated. Its length is the loader's."""

    def __init__(self, loader: DataLoader, batches: Iterator[Any]) -> None:
        self._loader = loader
        self._batches = batches

    def __iter__(self) -> Iterator[Any]:
        return self

    def __next__(self) -> Any:
        return next(self._batches)

    def __len__(self) -> int:
        return len(self._loader)


class DataLoader:
    """Batches of the examples of `dataset`, each time it is iterated.

    Examples come in order, or if `shuffle`, in an order drawn with `generator`; or as `sampler` or `batch_sampler`
    says. `batch_size` of them make a batch, by `collate_fn`; the last may be smaller, and is left out if `drop_last`.
    With batch_size=None examples come one by one, only converted by `collate_fn`.

    With `num_workers`, so many threads load batches ahead, `prefetch_factor` (2) each; batches come in the same order
    as without. Workers are threads and no processes: the dataset is shared and not copied, whatever it holds, and
    operators, files and NumPy run at the same time; what Python itself computes does not. What an example or
    `collate_fn` raises is raised here, with its traceback. `worker_init_fn`, if given, is called with the number of
    each worker; `timeout`, if not 0, is how many seconds a batch may take, after which keyway.Error is raised.

    With `pin_memory` the tensors of a batch, in dicts, lists and tuples too, come in memory that is pinned for devices
    of type `pin_memory_device` ("cuda"), by whom the batch is loaded; an object that has a method pin_memory() is asked
    for what comes in its place. Without a CUDA device there is a warning, and nothing is pinned.

    A dataset that defines __getitems__(indices) gives a batch's examples at once. `multiprocessing_context` and
    `in_order` change nothing; nor does `persistent_workers`, which is there for num_workers > 0 only, as threads cost
    little to begin.
    """

    _FIXED = ("batch_size", "batch_sampler", "sampler", "drop_last", "dataset", "persistent_workers")

    def __init__(
        self, dataset: Dataset[Any], batch_size: int | None = 1, shuffle: bool | None = None,
        sampler: Iterable[Any] | None = None, batch_sampler: Iterable[Any] | None = None, num_workers: int = 0,
        collate_fn: Callable[[Any], Any] | None = None, pin_memory: bool = False, drop_last: bool = False,
        timeout: float = 0, worker_init_fn: Callable[[int], None] | None = None, multiprocessing_context: Any = None,
        generator: Generator | None = None, *, prefetch_factor: int | None = None, persistent_workers: bool = False,
        pin_memory_device: str = "", in_order: bool = True,
    ) -> None:
        if num_workers < 0 or timeout < 0:
            raise ValueError("num_workers and timeout must not be negative")
        if num_workers == 0 and prefetch_factor is not None:
            raise ValueError("prefetch_factor needs workers: let num_workers > 0")
        if prefetch_factor is not None and prefetch_factor < 1:
            raise ValueError(f"prefetch_factor must be positive, not {prefetch_factor}")
        if persistent_workers and num_workers == 0:
            raise ValueError("persistent_workers needs workers: let num_workers > 0")
        self.dataset = dataset
        self.num_workers = num_workers
        self.prefetch_factor = 2 if prefetch_factor is None and num_workers > 0 else prefetch_factor
        self.pin_memory = pin_memory
        self.pin_memory_device = pin_memory_device
        self.multiprocessing_context = multiprocessing_context
        self.persistent_workers = persistent_workers
        self.in_order = in_order
        self.timeout = timeout
        self.worker_init_fn = worker_init_fn
        self.generator = generator
        self._is_iterable = isinstance(dataset, IterableDataset)
        self._check_samplers(batch_size, shuffle, sampler, batch_sampler, drop_last)
        if batch_sampler is not None:
            batch_size, drop_last = None, False
        if sampler is None:
            sampler = self._default_sampler(bool(shuffle))
        if batch_sampler is None and batch_size is not None:
            batch_sampler = BatchSampler(sampler, batch_size, drop_last)
        self.batch_size = batch_size
        self.drop_last = drop_last
        self.sampler = sampler
        self.batch_sampler = batch_sampler
        default: Callable[[Any], Any] = default_convert if batch_sampler is None else default_collate
        self.collate_fn = collate_fn or default
        self._is_ready = True

    def __setattr__(self, name: str, value: Any) -> None:
        if name in self._FIXED and self.__dict__.get("_is_ready", False):
            raise ValueError(f"{name} of a DataLoader is not changed once that is made")
        super().__setattr__(name, value)

    def _check_samplers(self, batch_size: Any, shuffle: Any, sampler: Any, batch_sampler: Any, drop_last: bool) -> None:
        if self._is_iterable and (shuffle or sampler is not None or batch_sampler is not None):
            raise ValueError("an IterableDataset has its own order: give no shuffle, sampler or batch_sampler")
        if sampler is not None and shuffle:
            raise ValueError("sampler option is mutually exclusive with shuffle")
        if batch_sampler is not None and (batch_size != 1 or shuffle or sampler is not None or drop_last):
            raise ValueError("batch_sampler option is mutually exclusive with batch_size, shuffle, sampler, and "
                             "drop_last")
        if batch_size is None and drop_last:
            raise ValueError("batch_size=None makes no batches, of which drop_last could leave out one")

    def _default_sampler(self, shuffle: bool) -> Iterable[Any]:
        if self._is_iterable:
            return _Unlimited()
        source: Sized = self.dataset  # type: ignore[assignment]
        return RandomSampler(source, generator=self.generator) if shuffle else SequentialSampler(source)

    def __iter__(self) -> Iterator[Any]:
        orders = iter(self.sampler if self.batch_sampler is None else self.batch_sampler)
        collate = self._collate()
        return _Batches(self, self._load_here(orders, collate) if self.num_workers == 0
                        else self._load_ahead(orders, collate))

    def _collate(self) -> Callable[[Any], Any]:
        """`collate_fn`, whose batches are pinned if that is asked for."""
        if not self.pin_memory:
            return self.collate_fn
        if not self.pin_memory_device and not cuda.is_available():
            warnings.warn("DataLoader: pin_memory=True, but there is no CUDA device that memory could be pinned for",
                          stacklevel=3)
            return self.collate_fn
        return lambda examples: pinned(self.collate_fn(examples), self.pin_memory_device or "cuda")

    def _fetcher(self, collate: Callable[[Any], Any]) -> Callable[[Any], Any]:
        """A function from what the samplers give to a batch; to END where the examples of an iterable dataset end."""
        examples = iter(self.dataset) if self._is_iterable else None

        def fetch(order: Any) -> Any:
            if examples is None and isinstance(order, list):
                return collate(examples_of(self.dataset, order))
            if examples is None:
                return collate(self.dataset[order])
            if not isinstance(order, list):
                example = next(examples, END)
                return END if example is END else collate(example)
            batch = list(itertools.islice(examples, len(order)))
            is_left_out = self.drop_last and len(batch) < len(order)
            return END if not batch or is_left_out else collate(batch)

        return fetch

    def _load_here(self, orders: Iterator[Any], collate: Callable[[Any], Any]) -> Iterator[Any]:
        fetch = self._fetcher(collate)
        for order in orders:
            batch = fetch(order)
            if batch is END:
                return
            yield batch

    def _load_ahead(self, orders: Iterator[Any], collate: Callable[[Any], Any]) -> Iterator[Any]:
        seed = int(keyway.empty([], dtype=keyway.int64, device="cpu").random_(generator=self.generator))
        infos = [WorkerInfo(i, self.num_workers, seed + i, self.dataset) for i in range(self.num_workers)]
        return load_ahead(orders, infos, self.worker_init_fn, lambda: self._fetcher(collate),
                          self.prefetch_factor or 2, self.timeout)

    def __len__(self) -> int:
        """The number of batches. Raises TypeError if the dataset does not know its size."""
        if not self._is_iterable:
            return len(self.sampler if self.batch_sampler is None else self.batch_sampler)  # type: ignore[arg-type]
        size = len(self.dataset)  # type: ignore[arg-type]
        if self.batch_size is None:
            return size
        return size // self.batch_size if self.drop_last else -(-size // self.batch_size)
