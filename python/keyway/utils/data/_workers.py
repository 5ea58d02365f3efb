"""Workers: threads that load batches ahead."""

from __future__ import annotations

import threading
from collections import deque
from concurrent.futures import Future, ThreadPoolExecutor
from concurrent.futures import TimeoutError as FutureTimeoutError
from dataclasses import dataclass
from typing import Any, Callable, Iterator

import keyway

END = object()  # what a worker returns when its part of an iterable dataset has no more examples

_this_thread = threading.local()


@dataclass(frozen=True)
class WorkerInfo:
    """What a worker is: its number, of how many, a seed that differs between workers and runs, and the dataset."""

    id: int
    num_workers: int
    seed: int
    dataset: Any


def get_worker_info() -> WorkerInfo | None:
    """The worker that calls this; None outside of workers."""
    return getattr(_this_thread, "info", None)


class _Worker:
    """A thread that does one thing after the other."""

    def __init__(self, info: WorkerInfo, init: Callable[[int], None] | None,
                 make_fetcher: Callable[[], Callable[[Any], Any]]) -> None:
        self._thread = ThreadPoolExecutor(1, thread_name_prefix=f"keyway-loader-{info.id}")
        self._fetch: Callable[[Any], Any] | None = None
        self._info = info
        self._init = init
        self._make_fetcher = make_fetcher

    def submit(self, order: Any) -> Future[Any]:
        return self._thread.submit(self._run, order)

    def _run(self, order: Any) -> Any:
        if self._fetch is None:
            _this_thread.info = self._info
            if self._init is not None:
                self._init(self._info.id)
            self._fetch = self._make_fetcher()
        return self._fetch(order)

    def close(self) -> None:
        """Drops what was not begun; what was is not waited for."""
        self._thread.shutdown(wait=False, cancel_futures=True)


class LoadedAhead:
    """The batches of `orders`, dealt to workers in turn; each has up to `prefetch` of them to load. One that returns END
    gets no more. What loading a batch raises is raised in its place, and the next batch comes after it; one that is not
    there in time is waited for again."""

    def __init__(self, orders: Iterator[Any], infos: list[WorkerInfo], init: Callable[[int], None] | None,
                 make_fetcher: Callable[[], Callable[[Any], Any]], prefetch: int, timeout: float) -> None:
        self._orders = orders
        self._timeout = timeout
        self._to_begin = prefetch * len(infos)
        self._everyone = [_Worker(info, init, make_fetcher) for info in infos]
        self._workers = deque(self._everyone)
        self._loading: deque[tuple[_Worker, Future[Any]]] = deque()

    def _deal(self) -> None:
        if not self._workers:
            return
        for order in self._orders:
            self._loading.append((self._workers[0], self._workers[0].submit(order)))
            self._workers.rotate(-1)
            return

    def __iter__(self) -> Iterator[Any]:
        return self

    def __next__(self) -> Any:
        while self._to_begin > 0:
            self._to_begin -= 1
            self._deal()
        while self._loading:
            loaded = self._next_loaded()
            if loaded is not END:
                return loaded
        self.close()
        raise StopIteration

    def _next_loaded(self) -> Any:
        worker, batch = self._loading[0]
        try:
            error = batch.exception(self._timeout if self._timeout > 0 else None)
        except FutureTimeoutError:
            raise keyway.Error(f"DataLoader: a batch was not there within {self._timeout} seconds") from None
        self._loading.popleft()
        if error is None and batch.result() is END and worker in self._workers:
            self._workers.remove(worker)
        self._deal()
        return batch.result()

    def close(self) -> None:
        """Ends the workers."""
        for worker in self._everyone:
            worker.close()

    def __del__(self) -> None:
        self.close()
