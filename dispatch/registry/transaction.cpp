#include <keyway/core/base/library_undo_log.h>
#include <keyway/core/schema/canonical_cpp.h>
#include <keyway/core/schema/evolution.h>
#include <keyway/core/schema/printer.h>
#include <keyway/dispatch/call/default_argument.h>
#include <keyway/dispatch/registry/transaction.h>

#include <algorithm>
#include <tuple>

namespace keyway::inline v1 {

namespace {

RegistrationSite site_of(const OpInfo& info) { return {info.file, info.line}; }

// Kept for good, each distinct one once: callers may look at the one before.
const OpInfo* keep_info(const std::string& full_name, const std::string& schema, const std::string& tags,
                        const RegistrationSite& site, std::uint64_t signature, BoxedCallInfo boxed) {
  struct Kept {
    explicit Kept(const std::string& full)
        : name(full.substr(0, full.find('.'))), overload(full.substr(std::min(name.size() + 1, full.size()))) {}
    std::string name, overload;
    OpInfo info;
  };
  using Key = std::tuple<std::string, std::string, std::string, int>;  // schema, tags, file, line
  static auto& infos = *new std::map<Key, Kept>;
  const auto [at, fresh] = infos.try_emplace(Key{schema, tags, site.file, site.line}, full_name);
  Kept& kept = at->second;
  if (fresh) {
    const auto& [text, tag_text, file, line] = at->first;
    kept.info = OpInfo{kept.name, kept.overload, text, file.c_str(), line, signature, boxed, 0,
                       0,         nullptr,       0,    tag_text,     "",   "",        ""};
  }
  return &kept.info;
}

}  // namespace

std::uint64_t Transaction::commit(Registry& registry, const BlockRequest& request,
                                  RegistryNotifications& notifications) {
  Transaction transaction(registry, registry.next_block);
  transaction.check(request);
  if (!transaction.errors_.empty())
    transaction.fail("the library block at " + request.site.str() + " is not registered:");
  const bool has_kernels = !request.impls.empty() || !request.fallbacks.empty();
  if (has_kernels && !request.for_good) transaction.in_flight_ = registry.take_in_flight();
  try {
    transaction.prepare(request);
  } catch (...) {
    if (transaction.in_flight_ != nullptr) registry.give_back(transaction.in_flight_);
    throw;
  }
  transaction.put_in_force();
  notifications = std::move(transaction.notifications_);
  ++registry.next_block;
  for (auto& [owned, site] : transaction.owned_) {
    owned->owner = std::move(site);
    owned->block = transaction.block_;
  }
  return transaction.block_;
}

void Transaction::add(Registry& registry, const OpList& ops, RegistryNotifications& notifications) {
  Transaction transaction(registry, 0);
  for (std::size_t i = 0; i < ops.size; ++i) transaction.check_op(*ops.begin[i]);
  if (!transaction.errors_.empty()) transaction.fail("the operators of a library are not registered:");
  for (std::size_t i = 0; i < ops.size; ++i) transaction.prepare_op(*ops.begin[i]);
  transaction.build_tables();
  transaction.collect_notifications();
  transaction.put_in_force();
  notifications = std::move(transaction.notifications_);
}

InFlightCalls* Transaction::in_flight_from_outside(const Registry& registry, std::uint64_t block) {
  const auto in_flight = registry.in_flight.find(block);
  if (in_flight == registry.in_flight.end()) return nullptr;
  KEYWAY_CHECK_AS(Registration, !KernelUseGuard::is_within(*in_flight->second),
                  "a library block cannot be undone from inside a call of one of its kernels");
  return in_flight->second;
}

UndoneBlock Transaction::undo(Registry& registry, std::uint64_t block, RegistryNotifications& notifications) {
  Transaction transaction(registry, block);
  transaction.undone_.in_flight = in_flight_from_outside(registry, block);
  transaction.prepare_undo();
  transaction.put_in_force();
  CustomClassTable::withdraw(block);
  notifications = std::move(transaction.notifications_);
  registry.in_flight.erase(block);
  registry.blocks.erase(block);
  for (auto& [name, owned] : registry.namespaces) {
    if (owned.block == block) owned = {};
  }
  return std::move(transaction.undone_);
}

void Transaction::release(Registry& registry, std::uint64_t block) {
  const auto in_flight = registry.in_flight.find(block);
  if (in_flight == registry.in_flight.end()) return;
  Transaction transaction(registry, block);
  transaction.prepare_release();
  transaction.put_in_force();
  registry.give_back(in_flight->second);  // calls that are still counted there delay who has it next, no more
  registry.in_flight.erase(in_flight);
}

// ---- Check ----

void Transaction::check(const BlockRequest& request) {
  errors_ = request.errors;
  check_namespaces(request.owns);
  LibraryResources* const library = request.for_good ? nullptr : LibraryUndoLog::loading();
  for (const ClassRequest& one : request.classes) check_class(one, library);
  for (const DefRequest& def : request.defs) check_def(def);
  for (const ImplRequest& impl : request.impls) check_impl(impl);
  check_fallbacks(request.fallbacks);
}

void Transaction::check_namespaces(const std::vector<NamespaceRequest>& owns) {
  for (std::size_t i = 0; i < owns.size(); ++i) {
    const auto& [name, site] = owns[i];
    const RegistrationSite* first = nullptr;  // of its owner
    const auto owned = registry_.namespaces.find(name);
    if (owned != registry_.namespaces.end() && owned->second.owner) first = &*owned->second.owner;
    for (std::size_t j = 0; j < i && first == nullptr; ++j) {
      if (owns[j].name == name) first = &owns[j].site;
    }
    if (name == "keyway") {
      error("namespace keyway is the library's own; at " + site.str() + " use KEYWAY_LIBRARY_FRAGMENT");
    } else if (first != nullptr && *first == site) {
      error("the KEYWAY_LIBRARY of namespace " + name + " at " + site.str() +
            " is registered already: its library is loaded twice, perhaps by two paths");
    } else if (first != nullptr) {
      error("namespace " + name + " is owned by the KEYWAY_LIBRARY at " + first->str() + " already; at " + site.str() +
            " use KEYWAY_LIBRARY_FRAGMENT");
    }
  }
}

void Transaction::check_class(const ClassRequest& request, LibraryResources* library) {
  const CustomClassInfo& info = request.info;
  const auto refuse = [&](const std::string& why) {
    error("class " + info.name + " at " + request.site.str() + ": " + why);
  };
  try {
    const OwnedSchema uses_name("f(__torch__.torch.classes." + info.name + " self) -> ()");
  } catch (const Error&) {
    return refuse("that is not the name of a class, which is an identifier");
  }
  const bool is_twice = std::ranges::any_of(
      classes_, [&](const auto& other) { return other->name() == info.name || *other->info().type == *info.type; });
  if (is_twice || CustomClass::find(info.name)) return refuse("it is registered already");
  if (const auto other = CustomClass::find(*info.type))
    return refuse("its C++ class is registered already, as " + other->name());
  classes_.push_back(make_intrusive<CustomClass>(info, library));
}

intrusive_ptr<CustomClass> Transaction::class_named(std::string_view name) const {
  for (const auto& one : classes_) {
    if (one->name() == name) return one;
  }
  return CustomClass::find(name);
}

void Transaction::check_types(SchemaType type) const {
  KEYWAY_CHECK_AS(Registration, !type.is(TypeKind::Class) || class_named(type.class_name()),
                  "there is no class {}: the library that registers it comes first, or it stands in the same block",
                  type.class_name());
  for (const SchemaType part : type.parts()) check_types(part);
}

namespace {
// Calls use(name) for each class that a type names, in the order of the letters 'o' of its code.
template <typename Use>
void for_each_class(SchemaType type, const Use& use) {
  if (type.is(TypeKind::Class)) use(type.class_name());
  for (const SchemaType part : type.parts()) for_each_class(part, use);
}
}  // namespace

// Whether the C++ classes of a kernel's objects are those that the schema names, as far as they are known.
void Transaction::check_objects(const std::string& op, FunctionSchema schema, ArrayRef<const std::type_info*> objects,
                                const RegistrationSite& site) {
  std::size_t next = 0;
  const auto compare = [&](std::string_view name) {
    const std::type_info* const type = next < objects.size() ? objects[next] : nullptr;
    ++next;
    const auto named = class_named(name);
    if (type == nullptr || !named || *named->info().type == *type) return;
    const auto is_type = [&](const auto& one) { return *one->info().type == *type; };
    const auto own = std::ranges::find_if(classes_, is_type);
    error("kernel of " + op + " at " + site.str() + " does not fit its schema: object " + std::to_string(next) +
          " of the kernel is of class " + (own != classes_.end() ? (*own)->name() : class_name_of(*type)) + ", not " +
          std::string(name));
  };
  for (const Argument argument : schema.arguments()) for_each_class(argument.type(), compare);
  for (const Argument result : schema.returns()) for_each_class(result.type(), compare);
}

void Transaction::check_def(const DefRequest& def) {
  std::string difference;  // of the schema from one that is there already
  const auto compare = [&](FunctionSchema there, FunctionSchema here) {
    difference = schema_difference(there, here);
    if (!difference.empty()) difference = ", with another schema: " + difference;
  };
  try {
    const OwnedSchema schema(def.schema);
    const std::string name(schema->full_name());
    Definition definition{name, schema, "", to_string(*schema), def.tags, def.site};
    KEYWAY_CHECK_AS(Registration, name.find("::") != std::string::npos, "{} names no namespace", name);
    definition.code = canonical_signature(*schema).code;
    for (const Argument argument : schema->arguments()) check_types(argument.type());
    for (const Argument result : schema->returns()) check_types(result.type());
    for (const Argument argument : schema->arguments()) {
      if (argument.has_default()) default_argument(argument);  // throws for one that has no value here
    }
    if (const Definition* other = definition_of(name)) {
      compare(*other->schema, *schema);
      KEYWAY_FAIL(Registration, "{} is defined at {} already, in the same library block", name, other->site.str());
    }
    if (const OperatorEntry* op = registry_.find(name)) {
      // The texts of built-in operators leave out the namespace that all of them have.
      const bool plain = op->schema().namespace_name().empty();
      compare(op->schema(), *OwnedSchema(plain ? def.schema.substr(def.schema.find("::") + 2) : def.schema));
      KEYWAY_FAIL(Registration, "{} is defined at {} already", name, site_of(op->info()).str());
    }
    const auto record = registry_.operators.find(name);
    if (record != registry_.operators.end()) {
      for (const Registration& impl : record->second.state.registrations) {
        check_kernel(name, schema, def.site, impl.code, impl.objects, impl.site);
      }
    }
    definitions_.emplace(name, std::move(definition));
  } catch (const Error& e) {
    error(std::string(e.what()) + " (defined at " + def.site.str() + ")" + difference);
  }
}

const Transaction::Definition* Transaction::definition_of(const std::string& op) const {
  const auto found = definitions_.find(op);
  return found == definitions_.end() ? nullptr : &found->second;
}

void Transaction::check_kernel(const std::string& op, const OwnedSchema& schema, const RegistrationSite& schema_site,
                               const std::string& code, ArrayRef<const std::type_info*> objects,
                               const RegistrationSite& site) {
  if (code.empty()) return;
  if (code == canonical_signature(*schema).code) return check_objects(op, *schema, objects, site);
  error("kernel of " + op + " at " + site.str() + " does not fit the schema at " + schema_site.str() + ": " +
        signature_difference(code, *schema));
}

void Transaction::check_op(const OperatorEntry& op) {
  const std::string name = op.full_name();
  const RegistrationSite site = site_of(op.info());
  if (const OperatorEntry* other = registry_.find(name)) {
    error(name + " at " + site.str() + " is defined at " + site_of(other->info()).str() + " already");
  }
  const auto record = registry_.operators.find(name);
  if (record == registry_.operators.end()) return;
  for (const Registration& impl : record->second.state.registrations) {
    check_kernel(name, OwnedSchema(op.info().schema), site, impl.code, impl.objects, impl.site);
  }
}

void Transaction::check_impl(const ImplRequest& impl) {
  check_key(impl.key, "kernel of " + impl.op + " at " + impl.site.str());
  if (const Definition* definition = definition_of(impl.op)) {
    check_kernel(impl.op, definition->schema, definition->site, impl.kernel.code, impl.kernel.objects, impl.site);
    return;
  }
  const OperatorEntry* op = registry_.find(impl.op);
  if (op == nullptr) return;  // checked when its schema comes
  const OpInfo& info = op->info();
  const std::string code = impl.kernel.code;
  if (code.empty() || (fnv1a(code) == info.signature && impl.kernel.objects.empty())) return;
  check_kernel(impl.op, OwnedSchema(info.schema), site_of(info), code, impl.kernel.objects, impl.site);
}

std::string Transaction::problem_of(DispatchKey key) {
  if (key > kLastDispatchKey) {
    return "there is no dispatch key of number " + std::to_string(static_cast<int>(key));
  }
  if (key == DispatchKey::Undefined) return "Undefined is served by composites only";
  if (!is_alias(key) && is_per_backend(functionality_of(key)) && backend_number_of(key) == 0) {
    return "the key " + to_string(key) + " stands for errors";
  }
  return {};
}

void Transaction::check_key(DispatchKey key, const std::string& what) {
  const std::string problem = problem_of(key);
  if (!problem.empty()) error(what + ": " + problem);
}

void Transaction::check_fallbacks(const std::vector<FallbackRequest>& fallbacks) {
  for (std::size_t i = 0; i < fallbacks.size(); ++i) {
    const FallbackRequest& request = fallbacks[i];
    const std::size_t before = errors_.size();
    check_key(request.key, "fallback at " + request.site.str());
    if (errors_.size() != before) continue;
    if (is_alias(request.key)) {
      error("fallback for the alias key " + to_string(request.key) + " at " + request.site.str() +
            ": a fallback serves one runtime key");
      continue;
    }
    const auto& present = registry_.fallbacks[static_cast<std::size_t>(request.key)];
    const RegistrationSite* first = present ? &present->site : nullptr;
    for (std::size_t j = 0; j < i; ++j) {
      if (fallbacks[j].key == request.key) first = &fallbacks[j].site;
    }
    if (first != nullptr) {
      error("second fallback for " + to_string(request.key) + " at " + request.site.str() + "; the first is at " +
            first->str());
    }
  }
}

void Transaction::fail(const std::string& what) const {
  std::string text = what;
  for (const std::string& e : errors_) text += "\n  " + e;
  throw Error(ErrorKind::Registration, text, __FILE__, __LINE__);
}

// ---- Prepare ----

void Transaction::prepare(const BlockRequest& request) {
  for (const auto& [name, site] : request.owns) {
    owned_.emplace_back(&registry_.namespaces.try_emplace(name).first->second, site);
  }
  for (const auto& [name, definition] : definitions_) define(definition);
  for (const ImplRequest& impl : request.impls) {
    OperatorState& next = change(registry_.record(impl.op)).next;
    if (const int other = next.find(impl.key); other >= 0) {
      notifications_.warnings.push_back("the kernel of " + impl.op + " for " + to_string(impl.key) + " at " +
                                        impl.site.str() + " takes the place of the one at " +
                                        next.registrations[static_cast<std::size_t>(other)].site.str());
    }
    next.registrations.push_back({impl.key, impl.kernel.kernel, impl.kernel.callable, impl.kernel.code, impl.name,
                                  impl.site, block_, in_flight_, impl.kernel.objects});
  }
  for (const FallbackRequest& f : request.fallbacks) {
    change_fallbacks()[static_cast<std::size_t>(f.key)] = Fallback{f.kernel.kernel, f.name, f.site, block_, in_flight_};
  }
  for (const auto& one : classes_) class_table_.add(one, block_);
  build_tables();
  collect_notifications();
  std::vector<OperatorRecord*> records;
  for (const auto& [record, next] : changes_) records.push_back(record);
  if (in_flight_ != nullptr) registry_.in_flight[block_] = in_flight_;
  // The last step that may throw: should it, no block has this number.
  try {
    registry_.blocks[block_] = std::move(records);
  } catch (...) {
    registry_.in_flight.erase(block_);
    throw;
  }
}

// Its own kernels come first: what was registered before it came is later than they are.
void Transaction::prepare_op(OperatorEntry& op) {
  OperatorRecord& record = registry_.record(op.full_name());
  record.tables.add(unobserved(op.table()));
  OperatorState own = Registry::state_of_static(op);
  OperatorState& next = change(record).next;
  own.registrations.insert(own.registrations.end(), next.registrations.begin(), next.registrations.end());
  next = std::move(own);
}

void Transaction::prepare_undo() {
  const auto block = registry_.blocks.find(block_);
  if (block == registry_.blocks.end()) return;
  for (OperatorRecord* record : block->second) {
    OperatorState& next = change(*record).next;
    for (const Registration& r : next.registrations) {
      if (r.block == block_ && r.callable) undone_.callables.push_back(r.callable);
    }
    std::erase_if(next.registrations, [&](const Registration& r) { return r.block == block_; });
    if (next.def_block == block_) {
      next.entry = nullptr;
      next.def_block = 0;
    }
  }
  for (std::size_t key = 0; key < registry_.fallbacks.size(); ++key) {
    const auto& fallback = registry_.fallbacks[key];
    if (fallback && fallback->block == block_) change_fallbacks()[key].reset();
  }
  build_tables();
  collect_notifications();
}

void Transaction::prepare_release() {
  const auto block = registry_.blocks.find(block_);
  if (block != registry_.blocks.end()) {
    for (OperatorRecord* record : block->second) {
      for (Registration& r : change(*record).next.registrations) {
        if (r.block == block_) r.in_flight = nullptr;
      }
    }
  }
  for (std::size_t key = 0; key < registry_.fallbacks.size(); ++key) {
    const auto& fallback = registry_.fallbacks[key];
    if (fallback && fallback->block == block_) change_fallbacks()[key]->in_flight = nullptr;
  }
  build_tables();
}

Transaction::Change& Transaction::change(OperatorRecord& record) {
  const auto at = changes_.find(&record);
  if (at != changes_.end()) return at->second;
  return changes_.emplace(&record, Change{record.state, nullptr}).first->second;
}

Fallbacks& Transaction::change_fallbacks() {
  if (!fallbacks_) fallbacks_ = std::make_unique<Fallbacks>(registry_.fallbacks);
  return *fallbacks_;
}

void Transaction::define(const Definition& definition) {
  const std::uint64_t signature = fnv1a(definition.code);
  const OpInfo* info = keep_info(definition.name, definition.text, definition.tags, definition.site, signature,
                                 boxed_call_info_of(*definition.schema));
  auto& entry = registry_.entries[definition.text];
  if (entry == nullptr) entry = new OperatorEntry(*info, table_of_errors());
  Change& own = change(registry_.record(definition.name));
  own.next.entry = entry;
  own.next.def_block = block_;
  own.info = info;
}

// The tables of the operators that change; when a fallback does, of all.
void Transaction::build_tables() {
  const Fallbacks& fallbacks = fallbacks_ ? *fallbacks_ : registry_.fallbacks;
  if (fallbacks_) {
    for (std::size_t i = 0; i < kBuiltinOps.size; ++i) registry_.record(kBuiltinOps.begin[i]->full_name());
    for (auto& [name, record] : registry_.operators) {
      if (record.state.entry == nullptr || changes_.contains(&record)) continue;
      publish(*record.state.entry, record.tables.build(record.state, fallbacks));
    }
  }
  for (const auto& [record, own] : changes_) {
    OperatorEntry* before = record->state.entry;
    if (before != nullptr && before != own.next.entry) publications_.emplace_back(before, &table_of_errors());
    if (own.next.entry != nullptr) {
      publish(*own.next.entry, record->tables.build(own.next, fallbacks));
    }
  }
}

void Transaction::collect_notifications() {
  std::multimap<std::string, RegistryNotifications::Change> by_name;  // of one name first what goes, then what comes
  for (const auto& [record, own] : changes_) {
    const OperatorEntry* before = record->state.entry;
    const OperatorEntry* after = own.next.entry;
    if (before != after && before != nullptr) by_name.insert({before->full_name(), {before, false}});
    if (before != after && after != nullptr) by_name.insert({after->full_name(), {after, true}});
    if (after != nullptr) warn_of_lost_gradients(after->full_name(), own.next);
    if (after == nullptr && !own.next.registrations.empty()) notifications_.has_dangling = true;
  }
  for (const auto& [name, change] : by_name) notifications_.operators.push_back(change);
}

// A backend's kernel of this block that takes the place of a composite, whose gradient came from what it calls: where
// gradients are recorded, nothing does so any more.
void Transaction::warn_of_lost_gradients(const std::string& name, const OperatorState& next) {
  const int composite = next.find(DispatchKey::CompositeImplicitAutograd);
  if (composite < 0) return;
  const Fallbacks& fallbacks = fallbacks_ ? *fallbacks_ : registry_.fallbacks;
  for (int backend = 1; backend <= kBackendBits; ++backend) {
    const int kernel = next.find(static_cast<DispatchKey>(slot_of(Functionality::Dense, backend)));
    if (kernel < 0) continue;
    const Registration& mine = next.registrations[static_cast<std::size_t>(kernel)];
    if (mine.block != block_ || (mine.kernel.flags & kFallthrough) != 0) continue;
    const auto autograd = static_cast<DispatchKey>(slot_of(Functionality::Autograd, backend));
    if (next.resolve(autograd, fallbacks).rule != ResolutionRule::Fallthrough) continue;
    notifications_.warnings.push_back("the kernel of " + name + " for " + to_string(mine.key) + " at " +
                                      mine.site.str() + " takes the gradient away that its composite at " +
                                      next.registrations[static_cast<std::size_t>(composite)].site.str() +
                                      " has: register a kernel for " + to_string(autograd) + " or Autograd too");
  }
}

// ---- Put in force ----

void Transaction::put_in_force() noexcept {
  for (auto& [record, own] : changes_) {
    std::swap(record->state, own.next);
    record->was_defined = record->was_defined || record->state.entry != nullptr;
    if (own.info != nullptr) record->state.entry->info_.store(own.info, std::memory_order_release);
  }
  if (fallbacks_) std::swap(registry_.fallbacks, *fallbacks_);
  if (!classes_.empty()) CustomClassTable::put_in_force(class_table_);
  for (const auto& [entry, table] : publications_) entry->table_.store(table, std::memory_order_seq_cst);
  if (!notifications_.operators.empty()) registry_.generation.fetch_add(1, std::memory_order_release);
}

}  // namespace keyway::inline v1
