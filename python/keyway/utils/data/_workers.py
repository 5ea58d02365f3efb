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


def load_ahead(orders: Iterator[Any], infos: list[WorkerInfo], init: Callable[[int], None] | None,
               make_fetcher: Callable[[], Callable[[Any], Any]], prefetch: int, timeout: float) -> Iterator[Any]:
    """The batches of `orders`, dealt to workers in turn; each has up to `prefetch` of them to load. One that returns
    END gets no more."""
    workers = deque(_Worker(info, init, make_fetcher) for info in infos)
    everyone = list(workers)
    loading: deque[tuple[_Worker, Future[Any]]] = deque()

    def deal() -> None:
        if not workers:
            return
        for order in orders:
            loading.append((workers[0], workers[0].submit(order)))
            workers.rotate(-1)
            return

    try:
        for _ in range(prefetch * len(infos)):
            deal()
        while loading:
            worker, batch = loading.popleft()
            try:
                loaded = batch.result(timeout if timeout > 0 else None)
            except FutureTimeoutError:
                if batch.done():
                    raise  # the dataset's own
                raise keyway.Error(f"DataLoader: a batch was not there within {timeout} seconds") from None
            if loaded is END and worker in workers:
                workers.remove(worker)
            deal()
            if loaded is not END:
                yield loaded
    finally:
        for worker in everyone:
            worker.close()
