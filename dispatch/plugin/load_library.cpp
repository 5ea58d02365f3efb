#include <keyway/core/base/library_undo_log.h>
#include <keyway/dispatch/plugin/load_library.h>
#include <keyway/dispatch/plugin/plugin.h>
#include <keyway/dispatch/plugin/shared_library_file.h>
#include <keyway/dispatch/registry/block_collector.h>
#include <keyway/dispatch/registry/pin_library.h>

#include <dlfcn.h>
#include <iterator>
#include <utility>

namespace keyway::inline v1 {

namespace {
constinit thread_local BlockCollector* innermost_blocks = nullptr;
}  // namespace

void append(BlockRequest& to, BlockRequest&& from) {
  const auto move_all = [](auto& into, auto& items) {
    into.insert(into.end(), std::make_move_iterator(items.begin()), std::make_move_iterator(items.end()));
  };
  move_all(to.owns, from.owns);
  move_all(to.classes, from.classes);
  move_all(to.defs, from.defs);
  move_all(to.impls, from.impls);
  move_all(to.fallbacks, from.fallbacks);
  move_all(to.errors, from.errors);
}

BlockCollector::BlockCollector() : outer_(std::exchange(innermost_blocks, this)) {}
BlockCollector::~BlockCollector() { innermost_blocks = outer_; }
BlockCollector* BlockCollector::current() { return innermost_blocks; }

void BlockCollector::add(Library& library, void (*block)(Library&)) {
  is_empty_ = false;
  code_ = reinterpret_cast<const void*>(block);
  try {
    block(library);
  } catch (const std::exception& error) {
    request_.errors.emplace_back(error.what());
  } catch (...) {
    request_.errors.emplace_back("a block throws what is no std::exception");
  }
  append(request_, library.take_request());
}

void BlockCollector::add(BlockRequest request, const void* code) {
  is_empty_ = false;
  if (code != nullptr) code_ = code;
  if (request_.site.file.empty()) request_.site = request.site;
  append(request_, std::move(request));
}

BlockRequest BlockCollector::take_request() {
  for (const ExpectedSchema& expected : std::exchange(expected_, {})) {
    std::string problem = expected.problem(request_.defs);
    if (!problem.empty()) request_.errors.push_back(std::move(problem));
  }
  is_empty_ = true;
  code_ = nullptr;
  return std::exchange(request_, BlockRequest{});
}

void BlockCollector::commit() {
  if (is_empty_ && expected_.empty()) return;
  const void* const code = code_;
  BlockRequest request = take_request();
  request.for_good = true;
  Dispatcher::singleton().commit(std::move(request)).release();
  if (code != nullptr) pin_library_of(code);
}

void load_library(const std::string& path) {
  OpenLibrary library;
  LibraryUndoLog undo_log;
  LibraryLoadGuard loading(undo_log);
  BlockCollector blocks;  // goes before the library, whose code its kernels are
  library = open_shared_library(path, "library");
  std::string problem;  // what is thrown may be of a type that goes with the library
  try {
    blocks.commit();
  } catch (const std::exception& error) {
    problem = error.what();
  }
  KEYWAY_CHECK_AS(Registration, problem.empty(), "library {}: {}", path, problem);
  if (dlsym(library.get(), "keyway_plugin") != nullptr) load_plugin(path).release();
  undo_log.library().stay();
  loading.commit();
  static_cast<void>(library.release());
}

}  // namespace keyway::inline v1
