"""keyway.ops: how operators are found by namespace, name and overload, and what an overload says of itself."""

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
