// Texts.
#include <keyway/onnx/import/operators/families.h>
#include <keyway/onnx/import/operators/one_call.h>

#include <algorithm>
#include <map>
#include <set>

namespace keyway::inline v1::onnx {

namespace {

// Letters of ASCII: others stay as they are, whatever the locale.
std::string lower(std::string text) {
  std::ranges::transform(text, text.begin(),
                         [](char c) { return static_cast<char>(c >= 'A' && c <= 'Z' ? c + 32 : c); });
  return text;
}
std::string upper(std::string text) {
  std::ranges::transform(text, text.begin(),
                         [](char c) { return static_cast<char>(c >= 'a' && c <= 'z' ? c - 32 : c); });
  return text;
}

// Leaves words out, and changes letters.
Results normalized_texts(const Call& call) {
  const Strings& x = call.strings(0);
  call.check(x.sizes.size() == 1 || (x.sizes.size() == 2 && x.sizes[0] == 1), "the sizes {} must be [C] or [1, C]",
             IntArrayRef(x.sizes));
  const std::string change = call.text_attribute("case_change_action", "NONE");
  call.check(change == "NONE" || change == "LOWER" || change == "UPPER", "case_change_action '{}' is none of ONNX's",
             change);
  const bool sensitive = call.attribute("is_case_sensitive", 0) != 0;
  std::set<std::string> left_out;
  for (std::string& word : call.texts_attribute("stopwords")) left_out.insert(sensitive ? word : lower(word));
  Strings result;
  for (const std::string& text : x.elements) {
    if (left_out.contains(sensitive ? text : lower(text))) continue;
    result.elements.push_back(change == "LOWER" ? lower(text) : change == "UPPER" ? upper(text) : text);
  }
  if (result.elements.empty()) result.elements.emplace_back();
  result.sizes = x.sizes;
  result.sizes.back() = static_cast<std::int64_t>(result.elements.size());
  return {Slot(std::move(result))};
}

// Runs of words that count, each with its number in the pool.
template <typename Word>
using Pool = std::map<std::vector<Word>, std::size_t>;

template <typename Word>
Pool<Word> pool_of(const Call& call, const std::vector<Word>& words) {
  const std::vector<std::int64_t> starts = call.list_attribute("ngram_counts");
  Pool<Word> pool;
  std::size_t number = 0;
  for (std::size_t n = 1; n <= starts.size(); ++n) {
    const auto begin = static_cast<std::size_t>(std::max<std::int64_t>(starts[n - 1], 0));
    const std::size_t end =
        n < starts.size() ? static_cast<std::size_t>(std::max<std::int64_t>(starts[n], 0)) : words.size();
    call.check(begin <= end && end <= words.size() && (end - begin) % n == 0, "ngram_counts do not fit the pool");
    for (std::size_t at = begin; at < end; at += n, ++number) {
      pool.emplace(std::vector<Word>(words.begin() + static_cast<std::ptrdiff_t>(at),
                                     words.begin() + static_cast<std::ptrdiff_t>(at + n)),
                   number);
    }
  }
  return pool;
}

template <typename Word>
void count_row(const Call& call, const Pool<Word>& pool, const Word* row, std::size_t length,
               std::vector<double>& counts) {
  const auto least = static_cast<std::size_t>(std::max<std::int64_t>(call.attribute("min_gram_length"), 1));
  const auto most = static_cast<std::size_t>(std::max<std::int64_t>(call.attribute("max_gram_length"), 0));
  const auto skips = static_cast<std::size_t>(std::max<std::int64_t>(call.attribute("max_skip_count"), 0));
  const std::vector<std::int64_t> places = call.list_attribute("ngram_indexes");
  for (std::size_t n = least; n <= most && n <= length; ++n) {
    for (std::size_t skip = 0; skip <= skips && skip <= length; ++skip) {
      if (n == 1 && skip > 0) break;  // a single word has nothing to skip
      for (std::size_t at = 0; at + (n - 1) * (skip + 1) < length; ++at) {
        std::vector<Word> run;
        for (std::size_t i = 0; i < n; ++i) run.push_back(row[at + i * (skip + 1)]);
        const auto found = pool.find(run);
        if (found == pool.end()) continue;
        call.check(found->second < places.size() && places[found->second] >= 0 &&
                       static_cast<std::size_t>(places[found->second]) < counts.size(),
                   "ngram_indexes do not fit the pool");
        counts[static_cast<std::size_t>(places[found->second])] += 1;
      }
    }
  }
}

template <typename Word>
Results counted(const Call& call, IntArrayRef sizes, const std::vector<Word>& elements,
                const std::vector<Word>& words) {
  call.check(sizes.size() == 1 || sizes.size() == 2, "the sizes {} must be [C] or [N, C]", sizes);
  const std::vector<std::int64_t> places = call.list_attribute("ngram_indexes");
  const std::vector<float> weights = call.singles_attribute("weights");
  const std::int64_t columns = places.empty() ? 0 : std::max<std::int64_t>(*std::ranges::max_element(places) + 1, 0);
  call.check(columns < (std::int64_t{1} << 28), "an index is {}", columns - 1);
  const std::string mode = call.text_attribute("mode");
  call.check(mode == "TF" || mode == "IDF" || mode == "TFIDF", "mode '{}' is none of ONNX's", mode);
  const Pool<Word> pool = pool_of(call, words);
  const auto rows = static_cast<std::size_t>(sizes.size() == 2 ? sizes[0] : 1);
  const auto length = static_cast<std::size_t>(sizes.back());
  std::vector<double> all;
  for (std::size_t row = 0; row < rows; ++row) {
    std::vector<double> counts(static_cast<std::size_t>(columns), 0);
    count_row(call, pool, elements.data() + row * length, length, counts);
    for (std::size_t i = 0; i < counts.size(); ++i) {
      const double weight = i < weights.size() ? static_cast<double>(weights[i]) : 1;
      all.push_back(mode == "TF" ? counts[i] : mode == "IDF" ? (counts[i] > 0 ? weight : 0) : counts[i] * weight);
    }
  }
  std::vector<std::int64_t> result = {columns};
  if (sizes.size() == 2) result.insert(result.begin(), sizes[0]);
  return {reshape(known_numbers(all), result).to(kFloat)};
}

Results vectorized_texts(const Call& call) {
  if (call.is_strings(0)) {
    return counted(call, call.strings(0).sizes, call.strings(0).elements, call.texts_attribute("pool_strings"));
  }
  return counted(call, call.tensor(0).sizes(), call.integers(0), call.list_attribute("pool_int64s"));
}

Results joined_texts(const Call& call) {
  const Strings& a = call.strings(0);
  const Strings& b = call.strings(1);
  call.check(a.sizes == b.sizes || a.elements.size() == 1 || b.elements.size() == 1,
             "texts of sizes {} and {} do not broadcast here", IntArrayRef(a.sizes), IntArrayRef(b.sizes));
  Strings result = a.elements.size() >= b.elements.size() ? a : b;
  for (std::size_t i = 0; i < result.elements.size(); ++i) {
    result.elements[i] = a.elements[a.elements.size() == 1 ? 0 : i] + b.elements[b.elements.size() == 1 ? 0 : i];
  }
  return {Slot(std::move(result))};
}

constexpr Operator kTexts[] = {
    {"StringConcat", 20, joined_texts, 2},
    {"StringNormalizer", 10, normalized_texts, 1, "case_change_action is_case_sensitive locale stopwords"},
    {"TfIdfVectorizer", 9, vectorized_texts, 1,
     "max_gram_length max_skip_count min_gram_length mode ngram_counts ngram_indexes pool_int64s pool_strings weights"},
};

}  // namespace

Family text_family() { return kTexts; }

}  // namespace keyway::inline v1::onnx
