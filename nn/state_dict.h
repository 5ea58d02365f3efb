// StateDict: the tensors of a module or an optimizer by name, in order.
#pragma once

#include <keyway/nn/ordered_dict.h>
#include <keyway/tensor.h>

#include <string>

namespace keyway::inline v1::nn {

using StateDict = OrderedDict<std::string, Tensor>;

}  // namespace keyway::inline v1::nn
