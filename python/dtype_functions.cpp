#include <keyway/core/base/error.h>
#include <keyway/core/dtype/default_dtype.h>
#include <keyway/core/dtype/promote_types.h>
#include <keyway/ops/rules/promotion.h>
#include <keyway/python/descriptors.h>
#include <keyway/python/errors.h>
#include <keyway/python/module.h>
#include <keyway/python/tensor_object.h>
#include <keyway/python/values.h>

namespace keyway::inline v1::python {
namespace {

ScalarType asked_dtype(nb::handle object, const char* argument) {
  const auto dtype = dtype_in(object.ptr());
  KEYWAY_CHECK_AS(Type, dtype, "argument '{}' must be a keyway.dtype, not {}", argument, class_name(object));
  return *dtype;
}

void count_operand(Promotion& promotion, nb::handle object, const char* argument) {
  Scalar number;
  if (is_tensor(object.ptr())) {
    promotion << tensor_in(object.ptr());
  } else if (to_scalar(object.ptr(), number)) {
    promotion << number;
  } else {
    KEYWAY_FAIL(Type, "result_type(): argument '{}' must be a Tensor or a Number, not {}", argument,
                class_name(object));
  }
}

nb::object result_type(nb::handle tensor1, nb::handle tensor2) {
  Promotion promotion;
  count_operand(promotion, tensor1, "tensor1");
  count_operand(promotion, tensor2, "tensor2");
  return to_object(promotion.result());
}

}  // namespace

void add_dtype_functions(nb::module_& module) {
  module.def(
      "get_default_dtype", [] { return to_object(get_default_dtype()); },
      "The dtype that new floating-point tensors have when nobody names one.");
  module.def(
      "set_default_dtype", [](nb::handle d) { set_default_dtype(asked_dtype(d, "d")); }, nb::arg("d").none(),
      "Sets the dtype that new floating-point tensors have: float16, bfloat16, float32 or float64. Raises "
      "keyway.TypeError for others.");
  module.def(
      "promote_types",
      [](nb::handle a, nb::handle b) {
        return to_object(checked_promote_types(asked_dtype(a, "type1"), asked_dtype(b, "type2")));
      },
      nb::arg("type1").none(), nb::arg("type2").none(),
      "The smallest dtype that holds the values of both. Raises keyway.TypeError where there is none.");
  module.def(
      "can_cast",
      [](nb::handle from, nb::handle to) { return can_cast(asked_dtype(from, "from_"), asked_dtype(to, "to")); },
      nb::arg("from_").none(), nb::arg("to").none(),
      "Whether results of dtype `from_` may be stored in a tensor of dtype `to`: not complex ones in real, floating "
      "ones in integral, nor numbers in bool.");
  module.def("result_type", result_type, nb::arg("tensor1").none(), nb::arg("tensor2").none(),
             "The dtype of an arithmetic operation on two tensors or numbers. Tensors without dimensions and numbers "
             "count only if they are of a higher category: bool, integral, floating, complex.");
  module.def("result_type", result_type, nb::arg("tensor").none(), nb::arg("other").none());
  module.def("result_type", result_type, nb::arg("scalar").none(), nb::arg("tensor").none());
  module.def("result_type", result_type, nb::arg("scalar1").none(), nb::arg("scalar2").none());
}

}  // namespace keyway::inline v1::python
