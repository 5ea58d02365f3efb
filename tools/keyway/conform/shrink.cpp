#include <keyway/tools/keyway/conform/shrink.h>

#include <algorithm>
#include <functional>
#include <utility>

namespace keyway::inline v1::tools {

namespace {

using Values = std::vector<Value>;

// The call with one tensor changed, if that changes it.
template <typename F>
void add_changed_tensors(const Values& values, std::vector<Values>& simpler, F&& change) {
  for (std::size_t i = 0; i < values.size(); ++i) {
    for (std::size_t k = 0; k < values[i].tensors.size(); ++k) {
      if (!values[i].tensors[k].defined) continue;
      Values changed = values;
      if (change(changed[i].tensors[k])) simpler.push_back(std::move(changed));
    }
  }
}

// Every size of this number becomes another, in all tensors: what fitted together still does.
void add_smaller_sizes(const Values& values, std::vector<Values>& simpler) {
  std::vector<std::int64_t> sizes;
  for (const Value& value : values) {
    for (const TensorRecipe& recipe : value.tensors)
      sizes.insert(sizes.end(), recipe.sizes.begin(), recipe.sizes.end());
  }
  std::sort(sizes.rbegin(), sizes.rend());
  sizes.erase(std::unique(sizes.begin(), sizes.end()), sizes.end());
  for (const std::int64_t size : sizes) {
    for (const std::int64_t smaller : {size / 2, size - 1}) {
      if (smaller < 1 || smaller == size) continue;
      Values changed = values;
      for (Value& value : changed) {
        for (TensorRecipe& recipe : value.tensors) {
          std::replace(recipe.sizes.begin(), recipe.sizes.end(), size, smaller);
          // Strides that still do not overlap are too large, and no matter.
        }
      }
      simpler.push_back(std::move(changed));
    }
  }
}

std::vector<Values> simpler_calls(const Values& values) {
  std::vector<Values> simpler;
  add_smaller_sizes(values, simpler);
  add_changed_tensors(values, simpler,
                      [](TensorRecipe& recipe) { return !recipe.strides.empty() && (recipe.strides.clear(), true); });
  add_changed_tensors(values, simpler, [](TensorRecipe& recipe) { return std::exchange(recipe.offset, 0) != 0; });
  add_changed_tensors(values, simpler, [](TensorRecipe& recipe) { return std::exchange(recipe.requires_grad, false); });
  add_changed_tensors(values, simpler, [](TensorRecipe& recipe) {
    return std::exchange(recipe.sharing, Sharing::None) != Sharing::None;
  });
  add_changed_tensors(values, simpler, [](TensorRecipe& recipe) {
    if (recipe.elements.size() < 2) return false;
    recipe.elements.resize((recipe.elements.size() + 1) / 2);
    return true;
  });
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (values[i].kind != Value::Kind::Tensors || values[i].tensors.size() < 2) continue;
    Values changed = values;
    changed[i].tensors.pop_back();
    simpler.push_back(std::move(changed));
  }
  return simpler;
}

}  // namespace

ShrunkCall shrink(const Judge& judge, ShrunkCall call, std::size_t tries) {
  for (bool smaller = true; smaller && tries > 0;) {
    smaller = false;
    const std::vector<Values> candidates = simpler_calls(call.values);
    for (std::size_t begin = 0; begin < candidates.size() && tries > 0 && !smaller;) {
      const std::size_t end = std::min(candidates.size(), begin + tries);
      const BatchResult batch = run_batch([&](std::size_t i) { return candidates[i]; }, judge, begin, end);
      tries -= batch.next - begin;
      // The same kind of failure: another one may be another fault.
      const auto failure = std::find_if(batch.failures.begin(), batch.failures.end(), [&](const Failure& each) {
        return each.outcome.verdict == call.outcome.verdict;
      });
      if (failure != batch.failures.end()) {
        call = {candidates[failure->index], failure->outcome};
        smaller = true;
      }
      begin = batch.next;
    }
  }
  return call;
}

}  // namespace keyway::inline v1::tools
