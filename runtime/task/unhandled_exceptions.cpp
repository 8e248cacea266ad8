#include "runtime/task/unhandled_exceptions.hpp"

#include <cxxabi.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <utility>

#include "runtime/task/join_handle.hpp"

namespace taskbench::rt::task {
namespace {

/// The type of the exception that is being handled.
std::string type_name() {
  const std::type_info* const type = abi::__cxa_current_exception_type();
  const std::unique_ptr<char, decltype(&std::free)> readable(
      abi::__cxa_demangle(type->name(), nullptr, nullptr, nullptr), &std::free);
  return readable ? readable.get() : type->name();
}

/// Prints a line in one call, so that those of several threads do not mix.
void print(std::string what) {
  std::replace(what.begin(), what.end(), '\n', ' ');
  std::fprintf(stderr, "taskbench runtime: an exception ended a task that nobody awaits: %s\n",
               what.c_str());
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
    if (!hook_) print(type_name() + ": " + failure.what());
  } catch (...) {
    if (!hook_) print(type_name());
  }
  if (hook_) hook_(exception);
}

}  // namespace taskbench::rt::task
