"""What the tests of traps have in common: a trap is a program that gets `run`, which is keyway.compile or nothing."""

import gc

import keyway as kw
import pytest
from keyway import graph


class Traps(dict):
    """The traps of a file, by name."""

    def add(self, trap):
        self[trap.__name__] = trap
        return trap


def marked(names, failing):
    """Parameters of a test; those that fail today are marked with their finding. What crashes is not run."""
    def marks(reason):
        return pytest.mark.xfail(strict=True, reason=reason, run=not reason.startswith("crash"))

    return [pytest.param(name, marks=marks(failing[name])) if name in failing else name for name in names]


def tried(function, *args, **kwargs):
    """What a function gives, or its exception."""
    try:
        return function(*args, **kwargs)
    except Exception as error:
        return error


def shown(value):
    """All that can be compared of it."""
    if isinstance(value, kw.Tensor):
        detached = value.detach()
        strides = tuple(s for s, size in zip(value.stride(), value.shape) if size > 1) if value.numel() else ()
        is_here = value.device.type == "cpu"
        bits = detached.contiguous().view(-1).view(kw.uint8).tolist() if is_here else None
        return (type(value).__name__, str(value.dtype), tuple(value.shape), strides, value.requires_grad,
                value.is_leaf, bits)
    if isinstance(value, dict):
        return type(value).__name__, [(key, shown(item)) for key, item in value.items()]
    if isinstance(value, (list, tuple)):
        return type(value).__name__, [shown(item) for item in value]
    return (type(value).__name__, str(value)) if isinstance(value, BaseException) else value


def traced(trace, run):
    kw.set_default_dtype(kw.float32)
    kw.manual_seed(0)
    try:
        return shown(trace(run))
    finally:
        kw.set_grad_enabled(True)
        kw.set_default_dtype(kw.float32)


def compare(trace):
    """Eagerly and compiled, a program gives the same results, effects and errors, and leaves no capture open."""
    expected = traced(trace, lambda function: function)
    given = traced(trace, kw.compile)
    is_open = graph.is_capturing()
    gc.collect()
    assert given == expected
    assert not is_open


def X():
    return kw.tensor([1.0, 2.0, -3.0])


def T3(*numbers):
    return kw.tensor([float(number) for number in numbers])


def P(*numbers):
    return T3(*numbers).requires_grad_()


def big(seed=0, *shape):
    """Random numbers, enough of them for a chain."""
    generator = kw.Generator()
    generator.manual_seed(seed)
    return kw.randn(*(shape or (40000,)), generator=generator)
