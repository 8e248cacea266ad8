// A library that is loaded into a program under callgrind, before all others, and shows how many
// bytes the program allocates. callgrind sees which function is called, but no arguments: so each
// bit that is set in the size of an allocation calls a function of its own. The sum of call counts
// times bits is the number of bytes (reports/perf/instruction_kinds.cpp). The memory still comes
// from the allocator that the program would use without this library. Any thread may call it.
#include <dlfcn.h>

#include <cstddef>
#include <utility>

namespace {

constexpr std::size_t kBits = 47;  // of an address

/// Named in the profile. The comment in the code keeps compilers from merging the instances.
template <std::size_t bit>
[[gnu::noinline]] void taskbench_allocated() {
  asm volatile("# bit %c0" : : "i"(bit) : "memory");
}

template <std::size_t... bit>
void mark(std::size_t bytes, std::index_sequence<bit...> /*bits*/) {
  (((bytes >> bit & 1) != 0 ? taskbench_allocated<bit>() : void()), ...);
}

void mark(std::size_t bytes) { mark(bytes, std::make_index_sequence<kBits>()); }

/// The function of this name that the program would otherwise call.
template <class Function>
Function* next(Function* /*of this type*/, const char* name) {
  return reinterpret_cast<Function*>(::dlsym(RTLD_NEXT, name));
}

thread_local bool is_asking [[gnu::tls_model("initial-exec")]] = false;  // in dlsym

/// Calls the function that `known` holds, and looks it up at the first call: libraries that are
/// loaded before this one may allocate, too. dlsym copes if it gets no memory meanwhile.
template <class Function, class... Arguments>
auto call_next(Function*& known, Function* type, const char* name, std::size_t bytes,
               Arguments... arguments) -> decltype(type(arguments...)) {
  Function* function = __atomic_load_n(&known, __ATOMIC_RELAXED);
  if (function == nullptr) {
    if (is_asking) return {};
    is_asking = true;
    function = next(type, name);
    is_asking = false;
    __atomic_store_n(&known, function, __ATOMIC_RELAXED);
  }
  mark(bytes);
  return function(arguments...);
}

}  // namespace

extern "C" {

void* malloc(std::size_t bytes) {
  static decltype(&malloc) known = nullptr;
  return call_next(known, &malloc, "malloc", bytes, bytes);
}

void* calloc(std::size_t count, std::size_t bytes) {
  static decltype(&calloc) known = nullptr;
  return call_next(known, &calloc, "calloc", count * bytes, count, bytes);
}

void* realloc(void* old, std::size_t bytes) {
  static decltype(&realloc) known = nullptr;
  return call_next(known, &realloc, "realloc", bytes, old, bytes);
}

void* aligned_alloc(std::size_t alignment, std::size_t bytes) {
  static decltype(&aligned_alloc) known = nullptr;
  return call_next(known, &aligned_alloc, "aligned_alloc", bytes, alignment, bytes);
}

int posix_memalign(void** into, std::size_t alignment, std::size_t bytes) {
  static decltype(&posix_memalign) known = nullptr;
  return call_next(known, &posix_memalign, "posix_memalign", bytes, into, alignment, bytes);
}
}
