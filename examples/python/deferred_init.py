"""A model that is made without memory, and gets it later with the numbers that it would have had: a mode that notes the
calls of factories, and a wrapper tensor for what they would have given."""

import keyway
from keyway import Tensor, nn
from keyway.utils.python_dispatch import KeywayDispatchMode, return_and_correct_aliasing, tree_leaves, tree_map_only


def leaves(kind, tree):
    return [leaf for leaf in tree_leaves(tree) if isinstance(leaf, kind)]


class Deferred(Tensor):
    """The result of a call that is yet to be made: its number on the tape, and a meta tensor that looks like it."""

    @staticmethod
    def __new__(cls, tape, look):
        made = Tensor._make_wrapper_subclass(cls, look.shape, look.stride(), look.storage_offset(), dtype=look.dtype)
        made.tape, made.look, made.number = tape, look, next(tape.numbers)
        return made

    @classmethod
    def __keyway_dispatch__(cls, func, types, args=(), kwargs=None):
        return leaves(Deferred, (args, kwargs))[0].tape.note(func, args, kwargs or {})


class DeferredInit(KeywayDispatchMode):
    """Tensors that are made within have no memory, until materialize() gives it to the parameters of a module."""

    def __init__(self):
        self.calls, self.numbers, self.state = [], iter(range(1 << 62)), keyway.get_rng_state()

    def __keyway_dispatch__(self, func, types, args=(), kwargs=None):
        if leaves(Tensor, (args, kwargs)):
            return NotImplemented if types else func(*args, **(kwargs or {}))
        return self.note(func, args, kwargs or {}, device="meta")

    def note(self, func, args, kwargs, **where):
        looks = tree_map_only(Deferred, lambda t: t.look, (args, kwargs))
        made = tree_map_only(Tensor, lambda t: Deferred(self, t), func(*looks[0], **{**looks[1], **where}))
        self.calls.append((func, args, kwargs, made))
        return return_and_correct_aliasing(func, args, kwargs, made)

    def materialize(self, module):
        keyway.set_rng_state(self.state)
        values = {}
        with keyway.no_grad():
            for func, args, kwargs, made in self.calls:
                args, kwargs = tree_map_only(Deferred, lambda t: values[t.number], (args, kwargs))
                values.update(zip([t.number for t in leaves(Deferred, made)], leaves(Tensor, func(*args, **kwargs))))
        for child in module.modules():
            for name, p in list(child.named_parameters(recurse=False)):
                setattr(child, name, nn.Parameter(values[p.number], p.requires_grad))
            child._buffers.update({name: values[b.number] for name, b in child.named_buffers(recurse=False)})
        return module


if __name__ == "__main__":
    with DeferredInit() as deferred:
        model = nn.Linear(4096, 4096)
    print(type(model.weight).__name__, deferred.materialize(model).weight[0, :4])
