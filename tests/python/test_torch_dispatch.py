"""Modes and wrapper tensors under PyTorch's names: a program for PyTorch says what it says with PyTorch 2.15, which was
recorded from it."""

import os
import subprocess
import sys
from pathlib import Path

import keyway

PROGRAM = '''
import copy, torch
from torch.utils._python_dispatch import TorchDispatchMode, is_traceable_wrapper_subclass, return_and_correct_aliasing
from torch.utils._pytree import tree_flatten, tree_map_only, tree_unflatten

aten = torch.ops.aten


class Log(TorchDispatchMode):
    def __init__(self):
        super().__init__()
        self.seen = []

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        self.seen.append((func.overloadpacket == aten.mul, [t.__name__ for t in types]))
        return func(*args, **(kwargs or {}))


class Pair(torch.Tensor):
    @staticmethod
    def __new__(cls, a, b):
        return torch.Tensor._make_wrapper_subclass(
            cls, a.size(), strides=a.stride(), storage_offset=a.storage_offset(), device=a.device, dtype=a.dtype,
            layout=a.layout, requires_grad=a.requires_grad)

    def __init__(self, a, b):
        self.a, self.b = a, b

    def __repr__(self):
        return f"Pair({self.a.tolist()}, {self.b.tolist()})"

    def __tensor_flatten__(self):
        return ["a", "b"], None

    @staticmethod
    def __tensor_unflatten__(inner, meta, outer_size, outer_stride):
        return Pair(inner["a"], inner["b"])

    @classmethod
    def __torch_dispatch__(cls, func, types, args, kwargs):
        parts = [tree_map_only(Pair, lambda t, part=part: getattr(t, part), (args, kwargs or {})) for part in "ab"]
        (first, structure), (second, _) = (tree_flatten(func(*given[0], **given[1])) for given in parts)
        made = [cls(p, q) if isinstance(p, torch.Tensor) else p for p, q in zip(first, second)]
        return return_and_correct_aliasing(func, args, kwargs, tree_unflatten(made, structure))


x = torch.arange(6.0).reshape(2, 3).requires_grad_()
with Log() as log:
    (x * x).exp().sum().backward()
print(sum(is_mul for is_mul, _ in log.seen), x.grad[0].tolist()[:2])

w = Pair(torch.ones(2, 3), torch.full((2, 3), 2.0)).requires_grad_()
(w * w * w).sum().backward()
print(w.grad, type(w.grad).__name__)
d = w.detach()
v = d[0]
v.mul_(3)
print(d, d._version, v._version, w._version)
print(type(copy.deepcopy(d)).__name__, is_traceable_wrapper_subclass(w), is_traceable_wrapper_subclass(x))
p = torch.nn.Parameter(w.detach())
print(type(p).__name__, isinstance(p, torch.nn.Parameter), isinstance(w, torch.nn.Parameter), p.requires_grad)
layer = torch.nn.Linear(3, 2, bias=False)
layer.weight = torch.nn.Parameter(Pair(torch.ones(2, 3), torch.zeros(2, 3)))
out = layer(torch.ones(1, 3))
out.sum().backward()
print(out, layer.weight.grad)
print(torch.cat([d, d]), d.split(1, 1)[1], d.sort(1)[1])
print(d.new_zeros(2), torch.zeros_like(d), d.clone(), d.to(torch.float64).a.dtype == torch.float64)
try:
    w.numpy()
except Exception:
    print("refused")
with Log() as outer, Log() as inner:
    d + 1
print(inner.seen, outer.seen)
g = torch.autograd.grad((w**3).sum(), w, create_graph=True)[0]
print(torch.autograd.grad(g.sum(), w)[0])


class Declines(TorchDispatchMode):
    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        print(func.overloadpacket == aten.mul, [t.__name__ for t in types])
        return NotImplemented if types else func(*args, **(kwargs or {}))


class DeclinesAll(TorchDispatchMode):
    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        return NotImplemented


with Declines():
    d * 2
with DeclinesAll():
    try:
        torch.ones(1)
    except TypeError:
        print("TypeError")


class Same(TorchDispatchMode):
    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        return args[0] if func.overloadpacket == aten.relu else func(*args, **(kwargs or {}))


leaf = torch.ones(2, requires_grad=True)
with Same():
    y = leaf.clone().relu()
print(y.grad_fn.name())
'''

RECORDED = """\
4 [0.0, 5.436563491821289]
Pair([[3.0, 3.0, 3.0], [3.0, 3.0, 3.0]], [[12.0, 12.0, 12.0], [12.0, 12.0, 12.0]]) Pair
Pair([[3.0, 3.0, 3.0], [1.0, 1.0, 1.0]], [[6.0, 6.0, 6.0], [2.0, 2.0, 2.0]]) 1 1 1
Pair True False
Pair True False True
Pair([[3.0, 3.0]], [[0.0, 0.0]]) Pair([[1.0, 1.0, 1.0], [1.0, 1.0, 1.0]], [[1.0, 1.0, 1.0], [1.0, 1.0, 1.0]])
Pair([[3.0, 3.0, 3.0], [1.0, 1.0, 1.0], [3.0, 3.0, 3.0], [1.0, 1.0, 1.0]], [[6.0, 6.0, 6.0], [2.0, 2.0, 2.0], [6.0, 6.\
0, 6.0], [2.0, 2.0, 2.0]]) Pair([[3.0], [1.0]], [[6.0], [2.0]]) Pair([[0, 1, 2], [0, 1, 2]], [[0, 1, 2], [0, 1, 2]])
Pair([0.0, 0.0], [0.0, 0.0]) Pair([[0.0, 0.0, 0.0], [0.0, 0.0, 0.0]], [[0.0, 0.0, 0.0], [0.0, 0.0, 0.0]]) Pair([[3.0, \
3.0, 3.0], [1.0, 1.0, 1.0]], [[6.0, 6.0, 6.0], [2.0, 2.0, 2.0]]) True
refused
[(False, ['Pair'])] [(False, ['Pair'])]
Pair([[18.0, 18.0, 18.0], [6.0, 6.0, 6.0]], [[36.0, 36.0, 36.0], [12.0, 12.0, 12.0]])
True ['Pair']
True []
True []
TypeError
ReluBackward0
"""


def test_a_program_for_pytorch_says_what_it_says_there():
    path = os.pathsep.join([str(Path(keyway.compat_path) / "python"), *sys.path])
    run = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, timeout=60,
                         env={**os.environ, "PYTHONPATH": path})  # fmt: skip
    assert run.returncode == 0, run.stderr
    assert run.stdout.splitlines() == RECORDED.splitlines()
