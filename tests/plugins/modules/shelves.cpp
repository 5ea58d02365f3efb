// Classes as Python uses them: tensors that an object keeps, and operators that take objects.
#include <keyway/dispatch/call/dict.h>
#include <keyway/dispatch/plugin/plugin.h>
#include <keyway/dispatch/registry/class_builder.h>
#include <keyway/tensor.h>

#include <algorithm>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

namespace {

using namespace keyway;

struct Shelf : CustomClassHolder {
  std::vector<Tensor> kept;
  std::int64_t limit;
  std::string name;

  Shelf(std::int64_t most, std::string text) : limit(most), name(std::move(text)) {}
  void put(Tensor x) {
    KEYWAY_CHECK(static_cast<std::int64_t>(kept.size()) < limit, "shelf {} is full: it takes {} tensors", name, limit);
    kept.push_back(std::move(x));
  }
  std::int64_t size() const { return static_cast<std::int64_t>(kept.size()); }
  Tensor get(std::int64_t i) const { return kept.at(static_cast<std::size_t>(i)); }
};
struct Label : CustomClassHolder {
  std::vector<std::string> texts{"label"};
};

using ShelfPtr = intrusive_ptr<Shelf>;
using State = std::tuple<std::vector<Tensor>, std::int64_t, std::string>;

// x times the sum of what is kept.
Tensor weigh(const ShelfPtr& shelf, const Tensor& x) {
  Tensor sum = shelf->get(0);
  for (std::int64_t i = 1; i < shelf->size(); ++i) sum = sum + shelf->get(i);
  return x * sum;
}

}  // namespace

KEYWAY_PLUGIN(shelves, plugin) {
  Library& m = plugin.library("shelves");
  m.class_<Shelf>("Shelf", "Keeps tensors in order.")
      .def(constructor<std::int64_t, std::string>(), "", {MethodArgument("limit") = 3, MethodArgument("name") = "s"})
      .def("put", &Shelf::put, "Puts a tensor behind the others.", {MethodArgument("x")})
      .def("get", &Shelf::get)
      .def("__len__", &Shelf::size)
      .def("same", [](const ShelfPtr& self) { return self; })
      .def_static("of",
                  [](const std::vector<Tensor>& all) {
                    auto made = make_intrusive<Shelf>(static_cast<std::int64_t>(all.size()), "of");
                    made->kept = all;
                    return made;
                  })
      .def_readwrite("limit", &Shelf::limit)
      .def_readonly("name", &Shelf::name, "What errors call it.")
      .def_pickle([](const ShelfPtr& self) { return State(self->kept, self->limit, self->name); },
                  [](const State& state) {
                    auto made = make_intrusive<Shelf>(std::get<1>(state), std::get<2>(state));
                    made->kept = std::get<0>(state);
                    return made;
                  });
  m.class_<Label>("Label")
      .def(constructor<>())
      .def_readwrite("texts", &Label::texts)
      .def_pickle([](const intrusive_ptr<Label>& self) { return self->texts; },
                  [](std::vector<std::string> texts) {
                    auto made = make_intrusive<Label>();
                    made->texts = std::move(texts);
                    return made;
                  });
  m.def("weigh(__torch__.torch.classes.shelves.Shelf shelf, Tensor x) -> Tensor", weigh);
  m.def("sizes(__torch__.torch.classes.shelves.Shelf[] shelves) -> int[]", [](const std::vector<ShelfPtr>& shelves) {
    std::vector<std::int64_t> sizes;
    for (const ShelfPtr& shelf : shelves) sizes.push_back(shelf->size());
    return sizes;
  });
  m.def("either(__torch__.torch.classes.shelves.Shelf? shelf=None) -> (__torch__.torch.classes.shelves.Shelf, bool)",
        [](const std::optional<ShelfPtr>& shelf) {
          return std::tuple<ShelfPtr, bool>(shelf.value_or(make_intrusive<Shelf>(1, "new")), shelf.has_value());
        });
  m.def("fewest(Dict(str, __torch__.torch.classes.shelves.Shelf) shelves) -> str",
        [](const Dict<std::string, ShelfPtr>& shelves) {
          std::string found;
          for (const auto& entry : shelves)
            if (found.empty() || entry.value()->size() < shelves.at(found)->size()) found = entry.key();
          return found;
        });
  m.def("scale(__torch__.torch.classes.shelves.Shelf shelf, Tensor x) -> Tensor");  // its kernels come from elsewhere
  plugin.impl("shelves", DispatchKey::CPU).impl("scale", [](const ShelfPtr& shelf, const Tensor& x) {
    return x * static_cast<double>(shelf->limit);
  });
}
