#include "runtime/base/asymmetric_fences.hpp"

namespace taskbench::rt::base {
namespace {

/// So many heavy fences more than there was work between them: passers pay from now on.
constexpr std::int32_t kMany = 16;

bool has_heavy_barrier() noexcept {
  static const bool result = prepare_heavy_barrier();
  return result;
}

}  // namespace

constinit AsymmetricFences detail::fences;

void prepare_asymmetric_fences() noexcept { favour_light_fences(); }

void favour_light_fences() noexcept {
  if (has_heavy_barrier()) detail::fences.favour_light();
}

void favour_heavy_fences() noexcept { detail::fences.favour_heavy(); }

void FenceBalance::count_heavy() noexcept {
  // relaxed: a count; threads that do so at once may pass kMany by their number
  if (surplus_.load(relaxed) < kMany) {
    surplus_.fetch_add(1, relaxed);  // relaxed: as above
  } else {
    favour_heavy_fences();
  }
}

void FenceBalance::lower() noexcept {
  // relaxed: a count; threads that do so at once may pass zero by their number
  if (surplus_.fetch_sub(1, relaxed) == 1) favour_light_fences();
}

}  // namespace taskbench::rt::base
