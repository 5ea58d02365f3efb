"""DataLoader: batches of a dataset's examples."""

from __future__ import annotations

import itertools
import warnings
from typing import Any, Callable, Iterable, Iterator, Sized

import keyway
from keyway import accelerator
from keyway._C import Generator
from keyway.utils.data._pinning import pinned
from keyway.utils.data._streams import Stream
from keyway.utils.data._workers import END, LoadedAhead, WorkerInfo
from keyway.utils.data.collate import default_collate, default_convert
from keyway.utils.data.dataset import Dataset, IterableDataset
from keyway.utils.data.sampler import BatchSampler, RandomSampler, Sampler, SequentialSampler


class _Unlimited(Sampler[None]):
    """What an iterable dataset is asked for: the next example, again and again."""

    def __iter__(self) -> Iterator[None]:
        while True:
            yield None


class _Positions:
    """What samplers give, each with the position of its first example among all of one iteration of a loader."""

    def __init__(self, orders: Iterator[Any]) -> None:
        self._orders = orders
        self._position = 0

    def __iter__(self) -> Iterator[tuple[int, Any]]:
        return self

    def __next__(self) -> tuple[int, Any]:
        order = next(self._orders)
        position = self._position
        self._position += len(order) if isinstance(order, list) else 1
        return position, order


class _LoadedHere:
    """The batches of `orders`, loaded when they are asked for. What loading one raises is raised in its place."""

    def __init__(self, orders: Iterator[Any], make_fetcher: Callable[[], Callable[[Any], Any]]) -> None:
        self._orders = orders
        self._make_fetcher = make_fetcher
        self._fetch: Callable[[Any], Any] | None = None

    def __iter__(self) -> Iterator[Any]:
        return self

    def __next__(self) -> Any:
        if self._fetch is None:
            self._fetch = self._make_fetcher()
        batch = self._fetch(next(self._orders))
        if batch is END:
            self._orders = iter(())
            raise StopIteration
        return batch


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
    each worker; `timeout`, if not 0, is how many seconds a batch may take, after which keyway.Error is raised. After an
    error, of an example or of time, the next call of next() goes on: with the next batch, or the one that was late.

    Random numbers that are drawn for an example follow from a seed, which each iteration draws from `generator`, and
    from the position that the example has in its order, and not on how many workers there are, none among them. Each
    example, and each call of `collate_fn` and of __getitems__, has streams of its own, begun anew: of keyway's default
    generators, of the functions of Python's module `random`, and of those of `numpy.random`, called as attributes of
    their modules. So seeding `random` or `numpy.random` elsewhere does not change them, and drawing them does not change
    what is drawn elsewhere. Not covered are generators that the dataset holds itself; functions that were imported by
    their own names (`from random import choice`) before the first iteration; NumPy, in an example that imports it as the
    first of all; and processes and threads that the dataset starts.
    Of an IterableDataset the streams belong to positions in the order of its batches, in which workers take turns.

    With `pin_memory` the tensors of a batch, in dicts, lists and tuples too, come in memory that is pinned for devices
    of type `pin_memory_device`, by default keyway.accelerator's, by whom the batch is loaded; an object that has a
    method pin_memory() is asked for what comes in its place. Without a device there is a warning, and nothing is
    pinned.

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
        seed = int(keyway.empty([], dtype=keyway.int64, device="cpu").random_(generator=self.generator))
        collate = self._collate()

        def make_fetcher() -> Callable[[tuple[int, Any]], Any]:
            return self._fetcher(collate, seed)

        if self.num_workers == 0:
            return _Batches(self, _LoadedHere(_Positions(orders), make_fetcher))
        infos = [WorkerInfo(i, self.num_workers, seed + i, self.dataset) for i in range(self.num_workers)]
        return _Batches(self, LoadedAhead(_Positions(orders), infos, self.worker_init_fn, make_fetcher,
                                          self.prefetch_factor or 2, self.timeout))

    def _collate(self) -> Callable[[Any], Any]:
        """`collate_fn`, whose batches are pinned if that is asked for."""
        if not self.pin_memory:
            return self.collate_fn
        device_type = self.pin_memory_device or str(accelerator.current_accelerator() or "")
        if not device_type:
            warnings.warn("DataLoader: pin_memory=True, but there is no device that memory could be pinned for",
                          stacklevel=3)
            return self.collate_fn
        return lambda examples: pinned(self.collate_fn(examples), device_type)

    def _fetcher(self, collate: Callable[[Any], Any], seed: int) -> Callable[[tuple[int, Any]], Any]:
        """A function from what the samplers give, with its position, to a batch; to END where the examples of an
        iterable dataset end. Each example and `collate` draw from streams of their own."""
        dataset: Any = self.dataset
        examples = iter(dataset) if self._is_iterable else None
        several = getattr(dataset, "__getitems__", None)

        def load(index: Any, position: int) -> Any:
            with Stream(seed, "example", position):
                return dataset[index] if examples is None else next(examples, END)

        def fetch_examples(position: int, order: list[Any]) -> list[Any]:
            if several is not None and examples is None:
                with Stream(seed, "examples", position):
                    return list(several(order))
            loaded = (load(index, position + i) for i, index in enumerate(order))
            return list(itertools.takewhile(lambda example: example is not END, loaded))

        def fetch(position_and_order: tuple[int, Any]) -> Any:
            position, order = position_and_order
            is_batch = isinstance(order, list)
            loaded = fetch_examples(position, order) if is_batch else load(order, position)
            if loaded is END or (examples is not None and is_batch and self._is_left_out(loaded, order)):
                return END
            with Stream(seed, "batch", position):
                return collate(loaded)

        return fetch

    def _is_left_out(self, batch: list[Any], order: list[Any]) -> bool:
        return not batch or (self.drop_last and len(batch) < len(order))

    def __len__(self) -> int:
        """The number of batches. Raises TypeError if the dataset does not know its size."""
        if not self._is_iterable:
            return len(self.sampler if self.batch_sampler is None else self.batch_sampler)  # type: ignore[arg-type]
        size = len(self.dataset)  # type: ignore[arg-type]
        if self.batch_size is None:
            return size
        return size // self.batch_size if self.drop_last else -(-size // self.batch_size)
