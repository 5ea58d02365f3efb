#include <keyway/backends/cpu/onednn_cache.h>
#include <keyway/backends/cpu/onednn_product.h>
#include <keyway/backends/cpu/scratch.h>

#include <array>

namespace keyway::inline v1::onednn {

using dnnl::memory;

struct Product::Parts {
  memory::desc a, b, c, scratchpad;
  dnnl::matmul primitive;
};

Product::Product(const ProductKey& key) {
  constexpr auto narrow = memory::data_type::bf16, wide = memory::data_type::f32;
  auto parts = std::make_unique<Parts>();
  parts->a = memory::desc({key.m, key.k}, narrow, memory::dims{key.a_row, key.a_column});
  parts->b = memory::desc({key.k, key.n}, narrow, memory::dims{key.b_row, key.b_column});
  parts->c = memory::desc({key.m, key.n}, key.rounds ? narrow : wide, memory::dims{key.c_row, 1});
  const dnnl::matmul::primitive_desc made(dnnl::matmul::desc(parts->a, parts->b, parts->c), attributes(), engine());
  refuse_unfit(made);
  parts->scratchpad = made.scratchpad_desc();
  parts->primitive = dnnl::matmul(made);
  parts_ = std::move(parts);
}

Product::~Product() = default;

void Product::run(const void* a, const void* b, void* c) const {
  const Parts& parts = *parts_;
  const ScratchArray<char> scratch(static_cast<std::int64_t>(parts.scratchpad.get_size()));
  call("matrix product", [&] {
    parts.primitive.execute(stream(), {{DNNL_ARG_SRC, wrap(parts.a, a)},
                                       {DNNL_ARG_WEIGHTS, wrap(parts.b, b)},
                                       {DNNL_ARG_DST, wrap(parts.c, c)},
                                       {DNNL_ARG_SCRATCHPAD, wrap(parts.scratchpad, scratch.data())}});
  });
}

std::size_t ProductKey::hash() const {
  PlanHash all;
  all.add_all(std::array{m, n, k, a_row, a_column, b_row, b_column, c_row});
  all.add(rounds ? 1 : 0);
  return all.value();
}

std::shared_ptr<const Product> Product::get(const ProductKey& key) { return cached<Product>(key, "matrix product"); }

}  // namespace keyway::inline v1::onednn
