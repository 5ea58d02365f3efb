"""What the graph keeps alive, and what the garbage collector gets back."""

import gc
import subprocess
import sys
import textwrap
import weakref

import keyway
import pytest
from keyway.autograd import Function


class Witness:
    """Something to refer to weakly."""


class Passes(Function):
    @staticmethod
    def forward(ctx, x, witness=None):
        ctx.witness = witness
        return x.clone()

    @staticmethod
    def backward(ctx, grad):
        return grad, None


def leaf():
    return keyway.ones(2).requires_grad_()


def survives(build, *parts):
    """Whether a witness lives on that `build` has put in something that it lets go of."""
    witness = Witness()
    reference = weakref.ref(witness)
    gc.disable()
    try:
        build(witness, *parts)
        del witness
        assert reference() is not None, "there is no cycle to collect"
        gc.collect()
    finally:
        gc.enable()
    return reference() is not None


def test_a_graph_without_cycles_is_freed_at_once():
    witness = Witness()
    reference = weakref.ref(witness)
    y = Passes.apply(leaf(), witness).mul(2)
    del witness
    assert reference() is not None
    del y
    assert reference() is None


def test_a_tensor_that_refers_to_itself_is_collected():
    def build(witness):
        x = keyway.ones(1)
        x.itself, x.witness = x, witness

    assert not survives(build)


@pytest.mark.parametrize("slots", [True, False])
def test_a_subclass_that_refers_to_itself_is_collected(slots):
    class Sub(keyway.Tensor):
        if slots:
            __slots__ = ("itself",)

    def build(witness):
        x = keyway.ones(1)
        x = Sub._make_subclass(Sub, x)
        x.itself, x.witness = x, witness

    assert not survives(build)


def test_a_context_that_refers_to_its_result_is_collected():
    class Keeps(Passes):
        @staticmethod
        def forward(ctx, x, witness):
            ctx.witness, ctx.result = witness, x.clone()
            return ctx.result

    assert not survives(lambda witness: [Keeps.apply(leaf(), witness)])


def test_a_hook_that_refers_to_its_tensor_is_collected():
    def build(witness, x):
        x.register_hook(lambda grad: (x, witness) and None)

    assert not survives(lambda witness: build(witness, leaf()))
    assert not survives(lambda witness: build(witness, leaf().mul(2)))
    assert not survives(lambda witness: build(witness, leaf().mul(2).view(-1)))


def test_a_post_accumulate_hook_that_refers_to_its_leaf_is_collected():
    def build(witness):
        x = leaf()
        x.register_post_accumulate_grad_hook(lambda leaf: (x, witness) and None)

    assert not survives(build)


def test_hooks_and_metadata_of_a_node_that_refer_to_its_result_are_collected():
    def build(witness, add):
        y = leaf().mul(2)
        add(y.grad_fn, y, witness)

    def metadata(node, y, witness):
        node.metadata["both"] = (y, witness)

    assert not survives(build, metadata)
    assert not survives(build, lambda node, y, witness: node.register_hook(lambda i, o: (y, witness) and None))
    assert not survives(build, lambda node, y, witness: node.register_prehook(lambda o: (y, witness) and None))


def test_a_cycle_through_several_nodes_that_meet_again_is_collected():
    def build(witness):
        y = Passes.apply(leaf(), witness)
        node = y.grad_fn
        z = y.add(y).add(y.neg()).sum()
        node.metadata["result"] = z

    assert not survives(build)


def test_a_cycle_through_the_object_of_a_node_is_collected():
    def build(witness):
        node = Passes.apply(leaf(), witness).mul(2).grad_fn
        node.metadata["itself"] = [node]
        node.next_functions[0][0].metadata["later"] = node

    assert not survives(build)


def test_what_somebody_still_reaches_is_not_collected():
    y = leaf().mul(2)
    witness = Witness()
    reference = weakref.ref(witness)
    y.register_hook(lambda grad, y=y, witness=witness: None)
    z = y.sum()
    del y, witness
    gc.collect()
    assert reference() is not None
    z.backward()
    gc.collect()
    assert reference() is not None
    del z
    gc.collect()
    assert reference() is None


def test_a_collection_in_the_midst_of_backward_breaks_nothing():
    class Collects(Passes):
        @staticmethod
        def backward(ctx, grad):
            gc.collect()
            return grad, None

    x = leaf()
    y = x
    for _ in range(5):
        y = Collects.apply(y, Witness())
        y.register_hook(lambda grad: None if gc.collect() else None)
    y.sum().backward()
    assert x.grad.sum().item() == 2


def test_attributes_survive_while_only_the_graph_holds_a_tensor():
    class Sub(keyway.Tensor):
        pass

    for x in (leaf(), Sub._make_subclass(Sub, keyway.ones(2), True)):
        kind, x.name = type(x), "weight"
        y = x.mul(2)
        for _ in range(2):
            del x
            gc.collect()
            x = y.grad_fn.next_functions[0][0].variable
            assert (type(x), x.name) == (kind, "weight")


def test_a_chain_of_a_million_nodes_is_freed_without_recursion():
    x = keyway.ones(1, requires_grad=True)
    y = x
    for _ in range(1_000_000):
        y = y.neg()
    y.sum().backward(retain_graph=True)
    assert x.grad.item() == 1
    del y


def test_a_chain_of_functions_and_of_contexts_is_freed_without_recursion():
    class Links(Passes):
        @staticmethod
        def forward(ctx, x):
            ctx.argument = x
            return x.clone()

    x = keyway.ones(1, requires_grad=True)
    y = x
    witness = Witness()
    reference = weakref.ref(witness)
    y = Passes.apply(y, witness)
    del witness
    for _ in range(100_000):
        y = Links.apply(y)
    del y
    assert reference() is None


def run(program):
    return subprocess.run([sys.executable, "-c", textwrap.dedent(program)], capture_output=True, text=True, timeout=60)


def test_the_interpreter_ends_with_live_graphs():
    result = run("""
        import atexit, keyway, sys
        class Doubles(keyway.autograd.Function):
            @staticmethod
            def forward(ctx, x):
                ctx.kept = x
                return x.mul(2)
            @staticmethod
            def backward(ctx, grad):
                return grad.mul(2)
        x = keyway.ones(2, requires_grad=True)
        x.attribute = object()
        y = Doubles.apply(x)
        y.register_hook(lambda grad: print(y))
        x.register_hook(lambda grad: None)
        y.grad_fn.metadata["y"] = y
        sys.modules["kept"] = [y.sum(), y.grad_fn, x]
        with keyway.autograd.graph.saved_tensors_hooks(lambda t: [t], lambda t: t[0]):
            z = x.exp().mul(x)
        mode = keyway.no_grad()
        mode.__enter__()
        atexit.register(lambda: print("end"))
    """)
    assert (result.returncode, result.stdout, result.stderr) == (0, "end\n", "")
