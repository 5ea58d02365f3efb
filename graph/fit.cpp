#include <keyway/graph/fit.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fmt/format.h>
#include <utility>

namespace keyway::inline v1::graph {
namespace {

constexpr std::int64_t kMaxDivisor = 64, kMaxProductDivisor = 32;

// Something that formulas are made of, with its value for each of the sizes.
struct Part {
  std::string text;  // empty: the constant 1
  std::vector<std::int64_t> values;
};

Part product_of(const Part& a, const Part& b) {
  Part product{a.text + " * " + b.text, a.values};
  for (std::size_t i = 0; i < product.values.size(); ++i) product.values[i] *= b.values[i];
  return product;
}

std::vector<Part> names_of(const std::vector<Dimensions>& sizes) {
  std::vector<Part> names;
  for (const auto& [name, size] : sizes.front()) {
    names.push_back({name, {}});
    for (const Dimensions& other : sizes) names.back().values.push_back(other.at(name));
  }
  return names;
}

// "3 * batch - 1"
std::string text_of_sum(const std::vector<const Part*>& parts, const std::vector<std::int64_t>& factors) {
  std::string text;
  for (const bool is_negative : {false, true}) {  // so that the text begins with no sign, if it need not
    for (std::size_t i = 0; i < parts.size(); ++i) {
      if (factors[i] == 0 || (factors[i] < 0) != is_negative) continue;
      const std::int64_t factor = text.empty() ? factors[i] : std::abs(factors[i]);
      if (!text.empty()) text += is_negative ? " - " : " + ";
      if (parts[i]->text.empty())
        text += std::to_string(factor);
      else
        text += factor == 1 ? parts[i]->text : fmt::format("{} * {}", parts[i]->text, factor);
    }
  }
  return text.empty() ? "0" : text;
}

// Factors of the parts whose sum the integers are, where exactly one such sum of integers is.
std::optional<std::vector<std::int64_t>> factors_of(const std::vector<const Part*>& parts,
                                                    const std::vector<std::int64_t>& integers) {
  // The first rows that do not depend on one another decide, by elimination; all rows have to agree.
  const std::size_t count = parts.size();
  std::vector<std::vector<double>> rows;
  std::vector<std::size_t> pivots;
  for (std::size_t i = 0; i < integers.size() && rows.size() < count; ++i) {
    std::vector<double> row;
    for (const Part* part : parts) row.push_back(static_cast<double>(part->values[i]));
    row.push_back(static_cast<double>(integers[i]));
    for (std::size_t r = 0; r < rows.size(); ++r) {
      const double factor = row[pivots[r]];
      for (std::size_t j = 0; j <= count; ++j) row[j] -= factor * rows[r][j];
    }
    const auto pivot =
        std::max_element(row.begin(), row.end() - 1, [](double a, double b) { return std::abs(a) < std::abs(b); });
    if (std::abs(*pivot) < 1e-6) continue;
    const double scale = *pivot;
    pivots.push_back(static_cast<std::size_t>(pivot - row.begin()));
    for (double& entry : row) entry /= scale;
    for (std::size_t r = 0; r < rows.size(); ++r) {
      const double factor = rows[r][pivots.back()];
      for (std::size_t j = 0; j <= count; ++j) rows[r][j] -= factor * row[j];
    }
    rows.push_back(std::move(row));
  }
  if (rows.size() < count || integers.size() <= count) return std::nullopt;
  std::vector<std::int64_t> factors(count);
  for (std::size_t r = 0; r < count; ++r) {
    const double factor = std::round(rows[r][count]);
    if (!(std::abs(factor) < 1e15)) return std::nullopt;
    factors[pivots[r]] = static_cast<std::int64_t>(factor);
  }
  for (std::size_t i = 0; i < integers.size(); ++i) {
    std::int64_t sum = 0;
    for (std::size_t j = 0; j < count; ++j) {
      std::int64_t product = 0;
      if (__builtin_mul_overflow(factors[j], parts[j]->values[i], &product)) return std::nullopt;
      if (__builtin_add_overflow(sum, product, &sum)) return std::nullopt;
    }
    if (sum != integers[i]) return std::nullopt;
  }
  return factors;
}

std::optional<std::string> sum_of_parts(const std::vector<const Part*>& parts,
                                        const std::vector<std::int64_t>& integers) {
  const auto factors = factors_of(parts, integers);
  return factors ? std::optional(text_of_sum(parts, *factors)) : std::nullopt;
}

// Of one, two or three of the parts.
std::optional<std::string> sum_of_few(const std::vector<Part>& parts, const std::vector<std::int64_t>& integers) {
  const std::size_t count = parts.size();
  for (std::size_t a = 0; a < count; ++a) {
    if (auto sum = sum_of_parts({&parts[a]}, integers)) return sum;
  }
  for (std::size_t a = 0; a < count; ++a) {
    for (std::size_t b = a + 1; b < count; ++b) {
      if (auto sum = sum_of_parts({&parts[a], &parts[b]}, integers)) return sum;
    }
  }
  for (std::size_t a = 0; a < count; ++a) {
    for (std::size_t b = a + 1; b < count; ++b) {
      for (std::size_t c = b + 1; c < count; ++c) {
        if (auto sum = sum_of_parts({&parts[a], &parts[b], &parts[c]}, integers)) return sum;
      }
    }
  }
  return std::nullopt;
}

// (name + offset) // divisor
Part quotient_of(const Part& name, std::int64_t offset, std::int64_t divisor) {
  const std::string sum = offset == 0  ? name.text
                          : offset > 0 ? fmt::format("({} + {})", name.text, offset)
                                       : fmt::format("({} - {})", name.text, -offset);
  Part quotient{fmt::format("{} // {}", sum, divisor), {}};
  for (const std::int64_t value : name.values) {
    const std::int64_t shifted = value + offset;
    quotient.values.push_back(shifted / divisor - (shifted % divisor < 0 ? 1 : 0));
  }
  return quotient;
}

// All with a factor, a constant, and a multiple of a name: so remainders are, too.
std::vector<std::string> sums_with_quotient(const std::vector<Part>& names, const Part& one,
                                            const std::vector<std::int64_t>& integers) {
  std::vector<std::string> sums;
  const auto add = [&](std::optional<std::string> sum) {
    if (sum) sums.push_back(std::move(*sum));
    return sum.has_value();
  };
  for (const Part& name : names) {
    for (std::int64_t divisor = 2; divisor <= kMaxDivisor; ++divisor) {
      for (std::int64_t offset = 0; offset < divisor; ++offset) {  // any other one moves the constant
        const Part quotient = quotient_of(name, offset, divisor);
        if (add(sum_of_few({quotient, one}, integers))) continue;
        for (const Part& other : names) add(sum_of_parts({&quotient, &other, &one}, integers));
      }
    }
  }
  return sums;
}

std::vector<std::string> products_with_quotient(const std::vector<Part>& names,
                                                const std::vector<std::int64_t>& integers) {
  std::vector<Part> quotients;
  const auto add = [&](const Part& name, std::int64_t offset, std::int64_t divisor) {
    quotients.push_back(quotient_of(name, offset, divisor));
    quotients.back().text = "(" + quotients.back().text + ")";
  };
  for (const Part& name : names) {
    for (std::int64_t divisor = 2; divisor <= kMaxProductDivisor; ++divisor) {
      if (divisor <= 4) {
        for (std::int64_t offset = -divisor; offset <= 2 * divisor; ++offset) add(name, offset, divisor);
      } else {
        for (const std::int64_t offset : {std::int64_t{0}, std::int64_t{1}, divisor - 1, divisor})
          add(name, offset, divisor);
      }
    }
  }
  std::vector<std::string> products;
  for (const std::vector<Part>* others : {&names, &std::as_const(quotients)}) {
    for (const Part& quotient : quotients) {
      for (const Part& other : *others) {
        const Part product = product_of(other, quotient);
        if (auto sum = sum_of_parts({&product}, integers)) products.push_back(std::move(*sum));
      }
    }
  }
  return products;
}

}  // namespace

std::vector<std::string> fitted_formulas(const std::vector<std::int64_t>& integers,
                                         const std::vector<Dimensions>& sizes) {
  const std::vector<Part> names = names_of(sizes);
  const Part one{"", std::vector<std::int64_t>(sizes.size(), 1)};
  std::vector<Part> parts = names;
  parts.push_back(one);
  std::vector<const Part*> all;
  for (const Part& part : parts) all.push_back(&part);
  std::vector<Part> products = parts;
  for (std::size_t a = 0; a < names.size(); ++a) {
    for (std::size_t b = a; b < names.size(); ++b) {
      const Part pair = product_of(names[a], names[b]);
      products.push_back(pair);
      for (std::size_t c = b + 1; c < names.size(); ++c) products.push_back(product_of(pair, names[c]));
    }
  }
  if (auto formula = sum_of_few(parts, integers)) return {*formula};
  if (auto formula = sum_of_few(products, integers)) return {*formula};
  if (auto formula = sum_of_parts(all, integers)) return {*formula};
  if (std::vector<std::string> sums = sums_with_quotient(names, one, integers); !sums.empty()) return sums;
  return products_with_quotient(names, integers);
}

std::optional<Dimensions> telling_sizes(const std::vector<std::string>& formulas, const Dimensions& sizes,
                                        const Dimensions& lowest, const Dimensions& highest) {
  std::optional<Dimensions> best;
  std::size_t best_alike = formulas.size();  // of them have one value
  for (const auto& [name, low] : lowest) {
    Dimensions others = sizes;
    for (std::int64_t size = low; size <= highest.at(name); ++size) {
      others[name] = size;
      std::map<std::int64_t, std::size_t> counts;
      std::size_t alike = 0;
      for (const std::string& formula : formulas) alike = std::max(alike, ++counts[evaluate(formula, others)]);
      if (alike >= best_alike) continue;
      best_alike = alike;
      best = others;
    }
  }
  return best;
}

}  // namespace keyway::inline v1::graph
