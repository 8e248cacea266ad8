#include "runtime/task/unhandled_exceptions.hpp"

#include <cxxabi.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <new>
#include <string>
#include <typeinfo>
#include <utility>

#include "runtime/task/join_handle.hpp"

namespace taskbench::rt::task {
namespace {

/// Prints a line in one call, so that those of several threads do not mix: the type of the
/// exception that is being handled, and `separator` and `text`.
void print(const char* separator = "", const char* text = "") noexcept {
  static constexpr char kLine[] =
      "taskbench runtime: an exception ended a task that nobody awaits: %s%s%s\n";
  const std::type_info* const type = abi::__cxa_current_exception_type();
  const std::unique_ptr<char, decltype(&std::free)> readable(
      abi::__cxa_demangle(type->name(), nullptr, nullptr, nullptr), &std::free);
  const char* const name = readable ? readable.get() : type->name();
  try {
    std::string one_line = text;
    std::replace(one_line.begin(), one_line.end(), '\n', ' ');
    std::fprintf(stderr, kLine, name, separator, one_line.c_str());
  } catch (const std::bad_alloc&) {
    // That may be why the task has failed.
    std::fprintf(stderr, kLine, name, separator, text);
  }
}

}  // namespace

UnhandledExceptions::UnhandledExceptions(std::function<void(std::exception_ptr)> hook)
    : hook_(std::move(hook)) {}

void UnhandledExceptions::report(const std::exception_ptr& exception) const noexcept {
  try {
    std::rethrow_exception(exception);
  } catch (const JoinError&) {
    return;
  } catch (const std::exception& failure) {
    if (!hook_) print(": ", failure.what());
  } catch (...) {
    if (!hook_) print();
  }
  if (hook_) hook_(exception);
}

}  // namespace taskbench::rt::task
