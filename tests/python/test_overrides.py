"""__keyway_function__: classes whose objects answer calls of operators themselves."""

import keyway
import pytest
from keyway import Tensor
from keyway.overrides import DisableFunctionOverrides, handle_keyway_function, has_keyway_function, is_tensor_like


class Duck:
    """Says who was asked, and with what."""

    @classmethod
    def __keyway_function__(cls, func, types, args=(), kwargs=None):
        return cls, func, types, args, kwargs


class Declining:
    @classmethod
    def __keyway_function__(cls, func, types, args=(), kwargs=None):
        return NotImplemented


class Logging(Tensor):
    calls = []

    @classmethod
    def __keyway_function__(cls, func, types, args=(), kwargs=None):
        cls.calls.append(func)
        return super().__keyway_function__(func, types, args, kwargs)


class LoggingMore(Logging):
    calls = []


class Plain(Tensor):
    pass


def test_an_argument_answers_with_function_types_and_arguments():
    duck, x = Duck(), keyway.ones([1])
    assert keyway.add(x, duck, alpha=2) == (Duck, keyway.add, (Duck,), (x, duck), {"alpha": 2})
    assert keyway.add(x, other=duck) == (Duck, keyway.add, (Duck,), (x,), {"other": duck})


def test_methods_overloads_and_packets_ask_too():
    duck, x = Duck(), keyway.ones([1])
    assert x.add(duck)[1] is Tensor.add
    overload = keyway.ops.keyway.add.Tensor
    assert overload(x, duck)[1] is overload
    assert keyway.ops.keyway.add(x, duck)[0] is Duck


def test_operators_of_numbers_ask_too():
    duck, x = Duck(), keyway.ones([1])
    assert (x + duck)[1] is Tensor.add
    assert (duck * x)[3] == (x, duck)
    assert (x < duck)[1] is Tensor.lt


def test_elements_of_lists_are_asked():
    duck, x = Duck(), keyway.ones([1])
    assert keyway.cat([x, duck], dim=0)[0] is Duck
    assert keyway.cat((x, duck))[2] == (Duck,)


def test_subclasses_are_asked_before_their_bases_and_others_from_left_to_right():
    class Goose(Duck):
        pass

    class Other(Duck.__base__):
        __keyway_function__ = Duck.__dict__["__keyway_function__"]

    assert keyway.add(Duck(), Goose())[2] == (Goose, Duck)
    assert keyway.cat([Duck(), Other(), Goose(), Duck()])[2] == (Goose, Duck, Other)


def test_who_declines_leaves_it_to_the_next_and_if_all_do_it_is_an_error():
    assert keyway.add(Declining(), Duck())[0] is Duck
    with pytest.raises(keyway.TypeError, match="operator add.*none of the classes.*Declining"):
        keyway.add(Declining(), keyway.ones([1]))


def test_super_makes_the_call_and_gives_plain_tensors():
    Logging.calls.clear()
    x = Logging(keyway.full([2], 3.0))
    y = keyway.mul(x, x)
    assert Logging.calls == [keyway.mul]
    assert type(y) is Tensor and y.sum().item() == 18.0


def test_super_declines_for_classes_that_it_does_not_know():
    x, y = Logging(keyway.ones([1])), Duck()
    assert keyway.add(x, y)[0] is Duck
    assert keyway.add(x, LoggingMore(keyway.ones([1]))).item() == 2.0


def test_a_subclass_without_the_method_gives_plain_tensors():
    x = Plain(keyway.ones([2]))
    assert type(x.add(x)) is Tensor


def test_disabled_overrides_are_not_called():
    duck = Duck()
    with DisableFunctionOverrides():
        with DisableFunctionOverrides():
            pass
        assert not has_keyway_function([duck])
        with pytest.raises(keyway.TypeError, match="no overload takes"):
            keyway.add(duck, duck)
    assert has_keyway_function([duck])


def test_an_exception_of_an_override_comes_out():
    class Failing:
        @classmethod
        def __keyway_function__(cls, func, types, args=(), kwargs=None):
            raise KeyError("override")

    with pytest.raises(KeyError, match="override"):
        keyway.relu(Failing())


def test_functions_of_python_take_part():
    def double(x):
        if has_keyway_function((x,)):
            return handle_keyway_function(double, (x,), x)
        return x.mul(2)

    duck = Duck()
    assert double(duck) == (Duck, double, (Duck,), (duck,), {})
    assert double(keyway.ones([1])).item() == 2.0


def test_what_is_like_a_tensor():
    assert is_tensor_like(keyway.ones([1])) and is_tensor_like(Duck())
    assert not is_tensor_like([1.0])


def test_functions_in_python_ask_overrides_too():
    class Named:
        @classmethod
        def __keyway_function__(cls, func, types, args=(), kwargs=None):
            return 7 if func is keyway.numel else func.__name__

    assert keyway.numel(Named()) == 7 and keyway.einsum("i->", Named()) == "einsum"
