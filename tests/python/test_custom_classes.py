"""keyway.classes: classes of C++ that a plug-in registers, their objects, and operators that take them."""

import copy
import gc
import os
import pickle
import subprocess
import sys
from pathlib import Path

import keyway
import pytest

pytestmark = pytest.mark.skipif("KEYWAY_TEST_PLUGINS" not in os.environ, reason="ctest says where the plug-ins are")
FULL = "__torch__.torch.classes.shelves.Shelf"


def plugin_file(name):
    return Path(os.environ["KEYWAY_TEST_PLUGINS"]) / f"libkeyway_test_{name}.so"


@pytest.fixture(scope="module", autouse=True)
def plugin():
    return keyway.load_plugin(plugin_file("shelves"))


@pytest.fixture
def shelf():
    made = keyway.classes.shelves.Shelf(limit=4)
    made.put(keyway.tensor([1.0, 2.0]))
    made.put(x=keyway.tensor([10.0, 20.0]))
    return made


def test_a_class_is_found_by_namespace_and_name():
    assert {"Label", "Shelf"} <= set(dir(keyway.classes.shelves)) and "shelves" in dir(keyway.classes)
    Shelf = keyway.classes.shelves.Shelf
    assert keyway.classes.shelves.Shelf is Shelf
    assert issubclass(Shelf, keyway.ScriptObject)
    assert (Shelf.__name__, Shelf.__module__, Shelf.__doc__) == ("Shelf", "keyway.classes.shelves", "Keeps tensors in order.")
    with pytest.raises(AttributeError, match="there is no class shelves.Box, or its library is not loaded"):
        keyway.classes.shelves.Box  # noqa: B018
    with pytest.raises(AttributeError, match="there is no class nowhere.Box"):
        keyway.classes.nowhere.Box  # noqa: B018


def test_methods_and_properties_are_those_of_the_object(shelf):
    assert isinstance(shelf, keyway.classes.shelves.Shelf)
    assert len(shelf) == 2
    assert shelf.get(1).tolist() == [10.0, 20.0]
    assert (shelf.limit, shelf.name) == (4, "s")
    shelf.limit = 2
    assert shelf.limit == 2
    with pytest.raises(keyway.ValueError, match="Shelf.put: shelf s is full: it takes 2 tensors"):
        shelf.put(keyway.ones(1))
    with pytest.raises(AttributeError):
        shelf.name = "other"
    with pytest.raises(AttributeError):
        shelf.color = "red"
    assert keyway.classes.shelves.Shelf.of([keyway.ones(1)] * 5).limit == 5
    assert keyway.classes.shelves.Shelf(1, "mine").name == "mine"
    assert keyway.classes.shelves.Shelf.put.__doc__ == "Puts a tensor behind the others."
    with pytest.raises(keyway.TypeError, match="limit"):
        keyway.classes.shelves.Shelf("four")


def test_an_object_comes_back_equal_and_hashes_the_same(shelf):
    same = shelf.same()
    assert same == shelf and hash(same) == hash(shelf) and {shelf: 1}[same] == 1
    assert shelf != keyway.classes.shelves.Shelf() and shelf != 3
    same.put(keyway.ones(2))
    assert len(shelf) == 3


def test_operators_take_objects_lists_dictionaries_and_none(shelf):
    ops = keyway.ops.shelves
    assert ops.weigh(shelf, keyway.tensor([1.0, 2.0])).tolist() == [11.0, 44.0]
    assert ops.weigh(x=keyway.tensor([1.0, 1.0]), shelf=shelf).tolist() == [11.0, 22.0]
    empty = keyway.classes.shelves.Shelf()
    assert ops.sizes([shelf, empty, shelf]) == (2, 0, 2)
    assert ops.sizes([]) == ()
    assert ops.fewest({"a": shelf, "b": empty}) == "b"
    found, given = ops.either(shelf)
    assert found == shelf and given
    found, given = ops.either()
    assert found.name == "new" and not given and ops.either(None)[0].name == "new"


def test_an_object_of_another_class_is_named(shelf):
    label = keyway.classes.shelves.Label()
    ops = keyway.ops.shelves
    for wrong, name in ((label, "shelves.Label"), (3, "int"), (None, "NoneType")):
        with pytest.raises(keyway.TypeError, match=rf"weigh.*'shelf'.*shelves.Shelf, not {name}"):
            ops.weigh(wrong, keyway.ones(2))
    with pytest.raises(keyway.TypeError, match="an element of type shelves.Label at position 1"):
        ops.sizes([shelf, label])
    with pytest.raises(keyway.TypeError, match="a value of type shelves.Label"):
        ops.fewest({"a": label})
    with pytest.raises(keyway.TypeError, match="self"):
        keyway.classes.shelves.Shelf.put(label, keyway.ones(1))


def test_functions_of_a_class_are_operators(shelf):
    assert keyway.ops.shelves.Shelf.put.schema == f"shelves::Shelf.put({FULL} self, Tensor x) -> ()"
    assert keyway.ops.shelves.Shelf.default.schema == f'shelves::Shelf(int limit=3, str name="s") -> {FULL}'
    assert keyway.ops.shelves.Shelf.get(shelf, 0).tolist() == [1.0, 2.0]
    assert '"shelves::Shelf.put"' in keyway.registry_snapshot("shelves::")


def test_objects_are_copied_and_pickled_by_their_state(shelf):
    for again in (pickle.loads(pickle.dumps(shelf)), copy.copy(shelf), copy.deepcopy(shelf)):
        assert again != shelf and type(again) is type(shelf)
        assert (again.limit, again.name, len(again)) == (4, "s", 2)
        assert again.get(1).tolist() == [10.0, 20.0]
    label = keyway.classes.shelves.Label()
    label.texts = ["a", "b"]
    assert pickle.loads(pickle.dumps([label]))[0].texts == ("a", "b")  # of one value, a list


def test_gradients_flow_to_tensors_beside_an_object_and_in_it(shelf):
    weight = keyway.tensor([2.0, 3.0], requires_grad=True)
    shelf.put(weight)
    x = keyway.tensor([1.0, 1.0], requires_grad=True)
    keyway.ops.shelves.weigh(shelf, x).sum().backward()
    assert x.grad.tolist() == [13.0, 25.0]
    assert weight.grad.tolist() == [1.0, 1.0]


def test_vmap_and_autocast_hand_objects_on(shelf):
    rows = keyway.tensor([[1.0, 1.0], [2.0, 2.0], [3.0, 0.0]])
    expected = [[11.0, 22.0], [22.0, 44.0], [33.0, 0.0]]
    assert keyway.vmap(lambda x: keyway.ops.shelves.weigh(shelf, x))(rows).tolist() == expected
    assert keyway.vmap(lambda x: keyway.ops.shelves.scale(shelf, x))(rows).tolist() == (rows * 4).tolist()
    with keyway.autocast("cpu"):
        assert keyway.ops.shelves.weigh(shelf, keyway.tensor([1.0, 1.0])).tolist() == [11.0, 22.0]


def test_kernels_in_python_get_and_give_objects(shelf):
    with keyway.library.Library("shelf_users", "DEF") as lib:
        lib.define(f"longer({FULL} a, {FULL}? b=None) -> {FULL}")
        lib.impl("longer", lambda a, b=None: b if b is not None and len(b) > len(a) else a)
        other = keyway.classes.shelves.Shelf()
        assert keyway.ops.shelf_users.longer(other, shelf) == shelf
        assert keyway.ops.shelf_users.longer(other) == other
        lib.define(f"wrong({FULL} a) -> {FULL}")
        lib.impl("wrong", lambda a: keyway.classes.shelves.Label())
        with pytest.raises(keyway.TypeError, match="shelves.Label"):
            keyway.ops.shelf_users.wrong(other)
        with pytest.raises(keyway.RegistrationError, match="there is no class shelves.Nobody"):
            lib.define("nobody(__torch__.torch.classes.shelves.Nobody a) -> ()")


def test_a_kernel_for_meta_in_python_gets_the_object(shelf):
    with keyway.library.Library("shelves", "FRAGMENT") as lib:
        lib.impl("scale", lambda shelf, x: keyway.empty(x.shape, device="meta"), "Meta")
        assert keyway.ops.shelves.scale(shelf, keyway.ones(2, 3, device="meta")).shape == (2, 3)


def test_a_plug_in_whose_objects_live_is_not_unloaded():
    plugin = keyway.load_plugin(plugin_file("classes"))
    Counter = keyway.classes.plugin_classes.Counter
    counter = Counter()
    with pytest.raises(keyway.RegistrationError, match="its classes still have 1 object of plugin_classes.Counter; let go"):
        plugin.unload()
    assert counter.count() == 1
    with pytest.raises(keyway.TypeError, match="objects of class plugin_classes.Counter cannot be copied or pickled"):
        copy.copy(counter)
    with pytest.raises(keyway.TypeError, match="gave it no constructor"):
        keyway.classes.plugin_classes.Own()
    del counter
    gc.collect()
    plugin.unload()
    with pytest.raises(keyway.NotImplementedError, match="is no longer defined"):
        Counter()
    with pytest.raises(AttributeError, match="there is no class plugin_classes.Counter"):
        keyway.classes.plugin_classes.Counter  # noqa: B018
    again = keyway.load_plugin(plugin_file("classes"))
    assert keyway.classes.plugin_classes.Counter().count() == 1
    gc.collect()
    again.unload()


TORCH = """
import sys, torch
torch.classes.load_library(sys.argv[1])
assert sys.argv[1] in torch.classes.loaded_libraries
shelf = torch.classes.shelves.Shelf(2)
shelf.put(torch.ones(2))
assert isinstance(shelf, torch.ScriptObject) and isinstance(shelf, torch._C.ScriptObject)
print(torch.ops.shelves.weigh(shelf, torch.full((2,), 5.0)).tolist())
"""


def test_the_package_torch_has_the_classes():
    path = os.pathsep.join([str(Path(keyway.compat_path) / "python"), *sys.path])
    done = subprocess.run([sys.executable, "-c", TORCH, os.path.realpath(plugin_file("shelves"))], capture_output=True,
                          text=True, check=False, env={**os.environ, "PYTHONPATH": path})
    assert done.returncode == 0, done.stderr
    assert done.stdout == "[5.0, 5.0]\n"
