"""How far rounding goes: a wrapper of two tensors, one in the model's dtype and its shadow in float64, which goes through
the same calls, forward, backward and in the optimizer."""

import keyway
from keyway import Tensor, nn
from keyway.utils.python_dispatch import return_and_correct_aliasing, tree_map_only


class Shadowed(Tensor):
    @staticmethod
    def __new__(cls, value, shadow):
        made = Tensor._make_wrapper_subclass(cls, value.shape, value.stride(), value.storage_offset(), dtype=value.dtype,
                                             device=value.device)
        made.value, made.shadow = value, shadow
        return made

    @classmethod
    def of(cls, tensor):
        return cls(tensor.clone(), tensor.double())

    @classmethod
    def __keyway_dispatch__(cls, func, types, args=(), kwargs=None):
        def exact(leaf):
            if isinstance(leaf, Tensor):
                leaf = leaf.shadow if isinstance(leaf, Shadowed) else leaf
                return leaf.double() if leaf.is_floating_point() else leaf
            return keyway.float64 if leaf.is_floating_point else leaf

        def both(value, shadow):
            if isinstance(value, (tuple, list)):
                return tuple(map(both, value, shadow))
            return cls(value, shadow) if isinstance(value, Tensor) else value

        plain = tree_map_only(Shadowed, lambda t: t.value, (args, kwargs or {}))
        shadows = tree_map_only((Tensor, keyway.dtype), exact, (args, kwargs or {}))
        out = both(func(*plain[0], **plain[1]), func(*shadows[0], **shadows[1]))
        return return_and_correct_aliasing(func, args, kwargs, out)

    def error(self):
        """The largest difference between the two, relative to the largest element."""
        return ((self.value.double() - self.shadow).abs().max() / self.shadow.abs().max()).item()


def shadowed(module):
    for child in module.modules():
        for name, parameter in list(child.named_parameters(recurse=False)):
            setattr(child, name, nn.Parameter(Shadowed.of(parameter.detach()), parameter.requires_grad))
    return module


if __name__ == "__main__":
    model = shadowed(nn.Sequential(nn.Linear(16, 32), nn.Tanh(), nn.Linear(32, 1)).bfloat16())
    optimizer, x = keyway.optim.SGD(model.parameters(), lr=0.05), keyway.randn(64, 16).bfloat16()
    for step in range(30):
        optimizer.zero_grad()
        (model(x) - x.sum(1, keepdim=True)).pow(2).mean().backward()
        optimizer.step()
    print({name: f"{p.error():.1e}" for name, p in model.named_parameters()})
