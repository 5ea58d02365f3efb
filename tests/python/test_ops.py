"""keyway.ops: how operators are found by namespace, name and overload, and what an overload says of itself."""

import copy
import inspect
import pickle
import weakref
from collections.abc import Sequence

import keyway
import pytest
from keyway.library import Library


def test_a_packet_calls_the_overload_that_takes_the_arguments():
    x = keyway.full([2], 3.0)
    assert keyway.ops.keyway.add(x, x).sum().item() == 12.0
    assert keyway.ops.keyway.add(x, 1, alpha=2).sum().item() == 10.0


def test_an_overload_takes_its_own_arguments_only():
    x = keyway.ones([2])
    assert keyway.ops.keyway.add.Tensor(x, x, alpha=3).sum().item() == 8.0
    with pytest.raises(keyway.TypeError, match=r"add\.Tensor\(\): argument 'other' \(position 2\) must be Tensor"):
        keyway.ops.keyway.add.Tensor(x, 2)


def test_an_overload_is_one_object_and_says_what_it_is():
    add = keyway.ops.keyway.add.Tensor
    assert add is keyway.ops.keyway.add.Tensor
    assert add.name() == "keyway::add.Tensor"
    assert add.schema == add._schema == "add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor"
    assert "pointwise" in add.tags
    assert str(add) == "keyway.add.Tensor" and str(keyway.ops.keyway.relu.default) == "keyway.relu.default"
    assert str(keyway.ops.keyway.add) == str(keyway.add) == "keyway.add"


def test_namespaces_packets_and_overloads_are_listed():
    with Library("ops_list", "DEF") as lib:
        lib.define("one(Tensor x) -> Tensor")
        lib.define("one.by(Tensor x, int by) -> Tensor")
        assert "ops_list" in dir(keyway.ops)
        assert dir(keyway.ops.ops_list) == ["one"]
        assert sorted(keyway.ops.ops_list.one.overloads()) == ["by", "default"]
        assert {"by", "default"} <= set(dir(keyway.ops.ops_list.one))
        assert keyway.ops.ops_list.one is keyway.ops.ops_list.one


def test_an_overload_that_comes_later_is_found_by_a_packet_that_was_used_before():
    with Library("ops_later", "DEF") as lib:
        lib.define("f(Tensor x) -> str")
        lib.impl("f", lambda x: "tensor")
        packet = keyway.ops.ops_later.f
        assert packet(keyway.ones([1])) == "tensor"
        lib.define("f.text(str x) -> str")
        lib.impl("f.text", lambda x: "text")
        assert packet("a") == "text"


def test_what_there_is_not_is_an_attribute_error_that_says_so():
    with pytest.raises(AttributeError, match="there is no operator nowhere::f"):
        keyway.ops.nowhere.f
    with pytest.raises(AttributeError, match="keyway::relu has no overload 'Tensor', but default"):
        keyway.ops.keyway.relu.Tensor


def test_an_operator_whose_schema_went_is_an_error_and_works_again_when_it_is_back():
    lib = Library("ops_gone", "DEF")
    schema = "f(Tensor x) -> Tensor"
    lib.define(schema)
    lib.impl("f", lambda x: x.neg())
    packet, overload = keyway.ops.ops_gone.f, keyway.ops.ops_gone.f.default
    x = keyway.ones([1])
    lib.destroy()
    for gone in (packet, overload):
        with pytest.raises(keyway.NotImplementedError, match="ops_gone::f.* no longer defined"):
            gone(x)
    lib.define(schema)
    lib.impl("f", lambda x: x.mul(5))
    assert packet(x).item() == overload(x).item() == 5.0
    lib.destroy()


def test_redispatch_calls_the_kernel_of_the_keys_that_it_is_given():
    x = keyway.ones([2]).requires_grad_()
    add = keyway.ops.keyway.add.Tensor
    assert add(x, x).requires_grad
    below = add.redispatch(keyway.dispatch_keys(x) & keyway.DispatchKeySet.full_after("Autograd"), x, x, alpha=2)
    assert below.sum().item() == 6.0
    assert not below.requires_grad


def test_redispatch_wants_a_key_set_first():
    with pytest.raises(keyway.TypeError, match="first argument is a keyway.DispatchKeySet"):
        keyway.ops.keyway.relu.default.redispatch(keyway.ones([1]))


def test_load_library_says_what_it_cannot_load(tmp_path):
    with pytest.raises(OSError, match="nothing.so"):
        keyway.ops.load_library(tmp_path / "nothing.so")


def test_arguments_have_the_names_that_the_schema_gives_them():
    with Library("ops_names", "DEF") as lib:
        lib.define("minus(Tensor self, Tensor x) -> Tensor")
        lib.impl("minus", lambda a, b: a.sub(b))
        lib.define("of(Tensor input, Tensor x, Tensor other, Tensor x2) -> Tensor")
        lib.impl("of", lambda a, b, c, d: a + 10 * b + 100 * c + 1000 * d)
        lib.define("dims(Tensor a, int dim=1, int axis=2, bool keepdim=False, bool keepdims=True) -> str")
        lib.impl("dims", lambda *args: "".join(map(str, args[1:])), all_arguments=True)
        lib.define("axis(Tensor a, int axis=0) -> int")
        lib.impl("axis", lambda a, axis=0: axis)
        one, five = keyway.ones([1]), keyway.full([1], 5.0)
        assert keyway.ops.ops_names.minus(self=five, x=one).item() == 4.0
        assert keyway.ops.ops_names.minus(x=one, self=five).item() == 4.0
        assert keyway.ops.ops_names.minus(five, x=one).item() == 4.0
        assert keyway.ops.ops_names.of(x2=one, other=one * 2, x=one * 3, input=one * 4).item() == 1234.0
        assert keyway.ops.ops_names.dims(one, axis=7) == "17FalseTrue"
        assert keyway.ops.ops_names.dims(one, dim=7) == "72FalseTrue"
        assert keyway.ops.ops_names.dims(one, keepdims=False) == "12FalseFalse"
        for call, text in (
            (lambda: keyway.ops.ops_names.axis(one, axis=2, dimm=1), "unexpected keyword argument 'dimm'"),
            (lambda: keyway.ops.ops_names.axis(one, dim=1), "unexpected keyword argument 'dim'"),
            (lambda: keyway.ops.ops_names.minus(input=five, x=one), "misses argument 'self'"),
            (lambda: keyway.ops.ops_names.minus(five, x=one, other=one), "unexpected keyword argument 'other'"),
            (lambda: keyway.ops.ops_names.minus(five, five, x=one), "several values for argument 'x'"),
        ):
            with pytest.raises(keyway.TypeError, match=text):
                call()


def test_built_in_operators_take_the_names_of_their_schemas_and_those_of_functions():
    x = keyway.tensor([[1.0, 2.0], [3.0, 4.0]])
    for name in ("self", "input", "x"):
        assert keyway.ops.keyway.relu(**{name: -x}).sum().item() == 0.0
    assert keyway.ops.keyway.sum.dim_IntList(self=x, axis=0, keepdims=True).tolist() == [[4.0, 6.0]]
    assert keyway.sum(x, axis=0).tolist() == [4.0, 6.0]
    for given in ({"dim": 0, "axis": 0}, {"axis": 0, "keepdim": True, "keepdims": True}, {"input": x, "dim": 0}):
        with pytest.raises(keyway.TypeError):
            keyway.sum(x, **given)
    for given in ({"requires_grad": True, "requires_gradd": True}, {"dtype": None, "out": None, "dtyp": None}):
        with pytest.raises(keyway.TypeError, match="unexpected keyword argument"):
            keyway.zeros([1], **given)


def test_no_more_keywords_are_taken_than_there_are_arguments():
    given = {f"argument{i}": 1 for i in range(300)}
    with pytest.raises(keyway.TypeError, match="unexpected keyword argument 'argument0'"):
        keyway.ops.keyway.relu.default(keyway.ones([1]), **given)


def test_an_overload_takes_results_by_their_names_or_together():
    x = keyway.tensor([2.0, 1.0])

    def outs():
        return keyway.empty(0), keyway.empty(0, dtype=keyway.int64)

    values, indices = outs()
    keyway.ops.keyway.sort.values(x, values=values, indices=indices)
    assert values.tolist() == [1.0, 2.0] and indices.tolist() == [1, 0]
    values, indices = outs()
    keyway.ops.keyway.sort.values(x, out=(values, indices))
    assert values.tolist() == [1.0, 2.0]
    with pytest.raises(keyway.TypeError, match="misses argument 'out'"):
        keyway.ops.keyway.sort.values(x, values=values)


def test_of_several_overloads_the_narrowest_takes_a_number():
    with Library("ops_narrow", "DEF") as lib:
        for kind in ("Scalar", "complex", "float", "int", "bool", "str", "Device"):
            lib.define(f"f.{kind}(Tensor x, {kind} n) -> str")
            lib.impl(f"f.{kind}", lambda x, n, kind=kind: kind)
        x = keyway.ones([1])
        given = {1: "int", 1.5: "float", 1j: "complex", "cpu": "str", keyway.device("cpu"): "Device"}
        assert {n: keyway.ops.ops_narrow.f(x, n) for n in given} == given
        assert keyway.ops.ops_narrow.f(x, True) == "bool"


def test_every_sequence_of_numbers_is_a_list_of_them():
    class Pair(Sequence):
        def __len__(self):
            return 2

        def __getitem__(self, i):
            return (4, 5)[i]

    with Library("ops_sequence", "DEF") as lib:
        lib.define("total(int[] n) -> int")
        lib.impl("total", lambda n: sum(n))
        assert [keyway.ops.ops_sequence.total(n) for n in (Pair(), range(4), [1, 2], (3,))] == [9, 6, 3, 3]
        for wrong in ("12", b"12", {1: 2}, {1, 2}, iter([1])):
            with pytest.raises(keyway.TypeError, match="must be tuple of ints"):
                keyway.ops.ops_sequence.total(wrong)


def test_operators_are_pickled_and_copied_by_name_and_may_be_weakly_referred_to():
    for op in (keyway.ops.keyway.add.Tensor, keyway.ops.keyway.relu.default, keyway.add, keyway.Tensor.add,
               keyway.ops.keyway.add):  # fmt: skip
        assert pickle.loads(pickle.dumps(op)) is op
        assert copy.copy(op) is op and copy.deepcopy(op) is op
        assert weakref.ref(op)() is op
    assert keyway.ops.keyway.add.Tensor.__name__ == "add.Tensor" and keyway.add.__name__ == "add"
    keys = keyway.dispatch_keys(keyway.ones([1]))
    for value in (keys, keys - keyway.DispatchKeySet("CPU"), keyway.DispatchKeySet(), keyway.DispatchKey.AutogradCPU):
        assert pickle.loads(pickle.dumps(value)) == value


def test_an_overload_has_a_signature():
    assert str(inspect.signature(keyway.ops.keyway.add.Tensor)) == "(self, other, *, alpha=1)"
    assert str(inspect.signature(keyway.ops.keyway.add.out)) == "(self, other, *, alpha=1, out)"


def test_redispatch_keeps_to_the_backend_of_the_arguments():
    meta, host = keyway.ones([2], device="meta"), keyway.ones([2])
    ops = keyway.ops.keyway
    calls = [
        (ops.relu.default, (meta,)),
        (ops.sum.default, (meta,)),
        (ops.copy_.default, (host, meta)),
        (ops.add.Tensor, (host, meta)),
        (ops._local_scalar_dense.default, (meta[0],)),
        (ops.cat.default, ([host, meta],)),
    ]
    for op, args in calls:
        for key in ("CPU", "AutogradCPU", "CUDA"):
            with pytest.raises(keyway.TypeError, match="are of another backend than the arguments"):
                op.redispatch(keyway.DispatchKeySet(key), *args)
    assert ops.relu.default.redispatch(keyway.DispatchKeySet("Meta"), meta).is_meta
    with keyway.IncludeDispatchKeyGuard("CPU"):  # which keeps the backend, too
        assert ops.relu.default(meta).is_meta
