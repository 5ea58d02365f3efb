#include <keyway/core/base/text.h>
#include <keyway/core/schema/owned.h>
#include <keyway/core/schema/printer.h>
#include <keyway/dispatch/dispatcher.h>
#include <keyway/dispatch/operator_state.h>
#include <keyway/dispatch/static_table.h>

#include <algorithm>
#include <map>
#include <memory>
#include <mutex>
#include <string>

namespace keyway::inline v1 {

namespace {

constexpr std::string_view kRuleNames[] = {"direct kernel",  "composite explicit", "composite implicit",
                                           "autograd alias", "backend fallback",   "fallthrough",
                                           "missing"};

const Table& table_of_errors() {
  struct Errors : Table {
    ErasedKernel kernel;
  };
  static constexpr KernelInfo kInfo{};
  static constinit Errors errors{{nullptr, DispatchKeySet::full().raw(), nullptr, &kInfo, 1, {}},
                                 {{missing_kernel, nullptr, 0, kBoxedOnly}, nullptr}};
  return errors;
}

}  // namespace

std::string_view to_string(Rule rule) { return kRuleNames[static_cast<std::size_t>(rule)]; }

// The registry proper. All writers hold the lock; callers of operators never come here.
struct Registry {
  std::mutex mutex;
  std::map<std::string, OperatorEntry*, std::less<>> dynamic;  // operators that are not built in
  std::map<std::string, Site, std::less<>> namespaces;         // owned by a KEYWAY_LIBRARY, and by whom
  std::map<std::string, std::uint64_t, std::less<>> namespace_blocks;
  Fallbacks fallbacks;
  std::uint64_t next_block = 1;

  // Never destroyed: calls and handles may outlive any order of destruction.
  static Registry& get() {
    static Registry& registry = *new Registry;
    return registry;
  }

  static OperatorEntry* find_builtin(std::string_view full_name) {
    const auto* end = kBuiltinOps.begin + kBuiltinOps.size;
    const auto* at =
        std::lower_bound(kBuiltinOps.begin, end, full_name,
                         [](const OperatorEntry* op, std::string_view n) { return op->full_name() < n; });
    return at != end && (*at)->full_name() == full_name ? *at : nullptr;
  }
  OperatorEntry* find(std::string_view full_name) {
    if (OperatorEntry* op = find_builtin(full_name)) return op;
    const auto at = dynamic.find(full_name);
    return at == dynamic.end() ? nullptr : at->second;
  }
};

namespace {

std::string with_namespace(std::string_view name) {
  return name.find("::") == std::string_view::npos ? "keyway::" + std::string(name) : std::string(name);
}

// A new OpInfo, kept for good: tables and callers may still look at the one before.
const OpInfo* make_info(const std::string& full_name, const std::string& schema, const Site& site,
                        std::uint64_t signature, BoxedShape boxed) {
  const std::size_t dot = full_name.find('.', full_name.find("::"));
  const auto& texts = *new std::array<std::string, 4>{
      full_name.substr(0, dot), dot == std::string::npos ? "" : full_name.substr(dot + 1), schema, site.file};
  return new OpInfo{texts[0], texts[1], texts[2], texts[3].c_str(), site.line, signature, boxed, "",
                    "",       "",       ""};
}

// The state of a built-in operator begins with the registrations that its static table was made from.
OperatorState* state_of_table(const OperatorEntry& op) {
  auto* state = new OperatorState;
  const Table& table = op.table();
  state->defined = !op.info().schema.empty();
  state->def_site = {op.info().file, op.info().line};
  for (std::size_t i = 1; i < table.kernel_count; ++i) {
    const KernelInfo& info = table.info[i];
    state->registrations.push_back(
        {info.key, table.erased_kernel(i), op.info().signature, info.name, {info.file, info.line}, 0});
  }
  if (&table != &table_of_errors()) state->tables.push_back(&table);
  return state;
}

}  // namespace

// One commit under the lock: checks everything, then changes everything.
class Transaction {
 public:
  Transaction(Registry& registry, LibraryRequest request)
      : registry_(registry), request_(std::move(request)), block_(registry.next_block) {}

  std::uint64_t run() {
    check();
    if (!errors_.empty()) fail();
    apply();
    return block_;
  }

 private:
  struct Parsed {
    std::string name;
    std::string text;
    std::uint64_t signature;
    BoxedShape boxed;
  };

  void error(std::string text) { errors_.push_back(std::move(text)); }

  void check() {
    if (!request_.owns_namespace.empty()) {
      const auto owner = registry_.namespaces.find(request_.owns_namespace);
      if (owner != registry_.namespaces.end()) {
        error("namespace " + request_.owns_namespace + " is owned by the KEYWAY_LIBRARY at " +
              owner->second.str() + " already; at " + request_.site.str() + " use KEYWAY_LIBRARY_FRAGMENT");
      }
    }
    for (const DefRequest& def : request_.defs) check_def(def);
    for (const ImplRequest& impl : request_.impls) check_impl(impl);
    for (const FallbackRequest& fallback : request_.fallbacks) check_fallback(fallback);
  }

  void check_def(const DefRequest& def) {
    parsed_.push_back({});
    try {
      const OwnedSchema schema(def.schema);
      const std::string name(schema->full_name());
      const std::uint64_t signature = signature_hash_of(*schema);
      for (const Parsed& other : parsed_) {
        if (other.name == name)
          error(name + " is defined twice in the library block at " + request_.site.str());
      }
      parsed_.back() = {name, to_string(*schema), signature, boxed_shape_of(*schema)};
      OperatorEntry* op = registry_.find(name);
      if (op != nullptr && !op->info().schema.empty()) {
        error(name + " is defined at " + Site{op->info().file, op->info().line}.str() + " and again at " +
              def.site.str());
      } else if (op != nullptr) {
        for (const Registration& impl : op->state_.load()->registrations) {
          check_kernel(name, signature, parsed_.back().text, def.site, impl.signature, impl.site);
        }
      }
    } catch (const Error& e) {
      error(std::string(e.what()) + " (defined at " + def.site.str() + ")");
    }
  }

  void check_kernel(const std::string& op, std::uint64_t wanted, const std::string& schema,
                    const Site& schema_site, std::uint64_t signature, const Site& site) {
    if (signature == 0 || signature == wanted) return;
    error("kernel of " + op + " at " + site.str() + " does not fit the schema at " + schema_site.str() +
          ": " + schema + " asks for " + signature_text_of(*OwnedSchema(schema)));
  }

  void check_impl(const ImplRequest& impl) {
    for (const Parsed& parsed : parsed_) {
      if (parsed.name == impl.op) {
        check_kernel(impl.op, parsed.signature, parsed.text, request_.site, impl.kernel.signature, impl.site);
        return;
      }
    }
    const OperatorEntry* op = registry_.find(impl.op);
    if (op == nullptr || op->info().schema.empty()) return;  // checked when its schema comes
    const OpInfo& info = op->info();
    check_kernel(impl.op, info.signature, std::string(info.schema), {info.file, info.line},
                 impl.kernel.signature, impl.site);
  }

  void check_fallback(const FallbackRequest& request) {
    if (is_alias(request.key)) {
      error("fallback for the alias key " + to_string(request.key) + " at " + request.site.str() +
            ": a fallback serves one runtime key");
      return;
    }
    const auto& present = registry_.fallbacks[static_cast<std::size_t>(request.key)];
    if (present) {
      error("second fallback for " + to_string(request.key) + " at " + request.site.str() +
            "; the first is at " + present->site.str());
    }
  }

  [[noreturn]] void fail() const {
    std::string text = format("the library block at {} is not registered:",
                              std::initializer_list<FormatArg>{request_.site.str()});
    for (const std::string& e : errors_) text += "\n  " + e;
    throw Error(ErrorKind::Registration, text, __FILE__, __LINE__);
  }

  OperatorEntry& entry(const std::string& name) {
    if (OperatorEntry* op = registry_.find(name)) return *op;
    auto* op = new OperatorEntry(*make_info(name, "", {}, 0, {}), table_of_errors());
    registry_.dynamic.emplace(name, op);
    return *op;
  }
  OperatorState& state(OperatorEntry& op) {
    if (op.state_.load() == nullptr) op.state_ = state_of_table(op);
    return *op.state_.load();
  }

  void apply() {
    ++registry_.next_block;
    if (!request_.owns_namespace.empty()) {
      registry_.namespaces[request_.owns_namespace] = request_.site;
      registry_.namespace_blocks[request_.owns_namespace] = block_;
    }
    std::vector<OperatorEntry*> changed;
    for (std::size_t i = 0; i < request_.defs.size(); ++i) {
      OperatorEntry& op = entry(parsed_[i].name);
      OperatorState& own = state(op);
      own.defined = true;
      own.def_block = block_;
      own.def_site = request_.defs[i].site;
      op.info_ =
          make_info(parsed_[i].name, parsed_[i].text, own.def_site, parsed_[i].signature, parsed_[i].boxed);
      changed.push_back(&op);
    }
    for (const ImplRequest& impl : request_.impls) {
      OperatorEntry& op = entry(impl.op);
      state(op).registrations.push_back(
          {impl.key, impl.kernel.kernel, impl.kernel.signature, impl.name, impl.site, block_});
      changed.push_back(&op);
    }
    for (const FallbackRequest& f : request_.fallbacks) {
      registry_.fallbacks[static_cast<std::size_t>(f.key)] =
          Fallback{f.fallthrough, f.kernel.kernel, f.name, f.site, block_};
    }
    publish(changed, !request_.fallbacks.empty());
  }

 public:
  // Publishes new tables of the changed operators, or of all.
  void publish(const std::vector<OperatorEntry*>& changed, bool all) {
    const auto refresh = [&](OperatorEntry& op) {
      OperatorState& own = state(op);
      op.table_.store(own.defined ? build_table(op, own, registry_.fallbacks) : &table_of_errors(),
                      std::memory_order_release);
    };
    if (!all) {
      for (OperatorEntry* op : changed) refresh(*op);
      return;
    }
    for (std::size_t i = 0; i < kBuiltinOps.size; ++i) refresh(*kBuiltinOps.begin[i]);
    for (const auto& [name, op] : registry_.dynamic) refresh(*op);
  }

  static void undo(Registry& registry, std::uint64_t block) {
    Transaction transaction(registry, {});
    std::vector<OperatorEntry*> changed;
    const auto drop = [&](OperatorEntry& op) {
      OperatorState* own = op.state_.load();
      if (own == nullptr) return;
      const auto removed =
          std::erase_if(own->registrations, [&](const Registration& r) { return r.block == block; });
      if (own->defined && own->def_block == block) {
        own->defined = false;
        op.info_ = make_info(op.full_name(), "", {}, 0, {});
      } else if (removed == 0) {
        return;
      }
      changed.push_back(&op);
    };
    for (std::size_t i = 0; i < kBuiltinOps.size; ++i) drop(*kBuiltinOps.begin[i]);
    for (const auto& [name, op] : registry.dynamic) drop(*op);
    bool fallbacks = false;
    for (auto& fallback : registry.fallbacks) {
      if (fallback && fallback->block == block) {
        fallback.reset();
        fallbacks = true;
      }
    }
    std::erase_if(registry.namespace_blocks, [&](const auto& owned) {
      if (owned.second != block) return false;
      registry.namespaces.erase(owned.first);
      return true;
    });
    transaction.publish(changed, fallbacks);
  }

 private:
  Registry& registry_;
  LibraryRequest request_;
  std::uint64_t block_;
  std::vector<Parsed> parsed_;  // one for each def
  std::vector<std::string> errors_;
};

Dispatcher& Dispatcher::singleton() {
  static constinit Dispatcher dispatcher;
  return dispatcher;
}

RegistrationHandle Dispatcher::commit(LibraryRequest request) {
  Registry& registry = Registry::get();
  const std::lock_guard lock(registry.mutex);
  return RegistrationHandle(Transaction(registry, std::move(request)).run());
}

void Dispatcher::undo(std::uint64_t id) {
  Registry& registry = Registry::get();
  const std::lock_guard lock(registry.mutex);
  Transaction::undo(registry, id);
}

void RegistrationHandle::undo() {
  if (id_ != 0) Dispatcher::singleton().undo(std::exchange(id_, 0));
}

std::optional<OperatorHandle> Dispatcher::find_op(std::string_view name) const {
  const std::string full = with_namespace(name);
  if (const OperatorEntry* op = Registry::find_builtin(full)) return OperatorHandle(*op);
  Registry& registry = Registry::get();
  const std::lock_guard lock(registry.mutex);
  const OperatorEntry* op = registry.find(full);
  if (op == nullptr || op->info().schema.empty()) return std::nullopt;
  return OperatorHandle(*op);
}

OperatorHandle Dispatcher::op(std::string_view name) const {
  if (const auto found = find_op(name)) return *found;
  std::vector<std::string> names;
  for (const OperatorHandle& op : ops()) names.push_back(op.entry().short_name());
  const std::string nearest = nearest_text(name, names);
  KEYWAY_FAIL(NotImplemented, "there is no operator '{}'{}", name,
              nearest.empty() ? std::string() : "; did you mean '" + nearest + "'?");
}

std::vector<OperatorHandle> Dispatcher::ops() const {
  std::vector<OperatorHandle> all;
  for (std::size_t i = 0; i < kBuiltinOps.size; ++i) all.emplace_back(*kBuiltinOps.begin[i]);
  Registry& registry = Registry::get();
  const std::lock_guard lock(registry.mutex);
  for (const auto& [name, op] : registry.dynamic) {
    if (!op->info().schema.empty()) all.emplace_back(*op);
  }
  return all;
}

SlotExplanation Dispatcher::explain_slot(const OperatorEntry& op, DispatchKey slot) const {
  Registry& registry = Registry::get();
  const std::lock_guard lock(registry.mutex);
  const Table& table = op.table();
  const auto find = [&](DispatchKey key) {
    for (std::size_t i = table.kernel_count; i-- > 1;) {
      if (table.info[i].key == key) return static_cast<int>(i);
    }
    return -1;
  };
  const Resolution r = resolve(slot, find, [&](DispatchKey key) {
    return registry.fallbacks[static_cast<std::size_t>(key)].has_value();
  });
  const std::uint8_t kernel = table.slots[static_cast<std::size_t>(slot)];
  return {slot, r.rule, kernel == 0 ? nullptr : &table.info[kernel]};
}

namespace detail {
void check_signature(const OperatorEntry& op, std::uint64_t signature) {
  KEYWAY_CHECK_AS(Type, signature == op.info().signature,
                  "{} is asked for with a C++ signature that is not that of its schema {}: {}",
                  op.short_name(), op.info().schema, signature_text_of(op.schema()));
}
}  // namespace detail

}  // namespace keyway::inline v1
