// Which arguments of an operator are dimensions, by its contracts.
#pragma once

#include <keyway/codegen/model/op_reader.h>

#include <string>
#include <vector>

namespace keyway::inline v1 {

// Where a contract says that an argument is a dimension, or several, of something: the rank of that.
struct DimArgument {
  std::string name;
  bool list = false;
  bool optional = false;
  const Formula* contract = nullptr;
  const Expr* rank = nullptr;  // a node of the contract
};
std::vector<DimArgument> dim_arguments(const Op& op);
// The argument that a contract says tensors can be concatenated along: a dimension of the result. Empty if there is
// none.
std::string joined_dim(const Op& op);

// Reports an integer of a reduction of which no contract says that it is a dimension: the reduction would be over all.
void check_reduced_dims(const Op& op, const OpSource& source);

}  // namespace keyway::inline v1
