#include "reports/model/fingerprint.hpp"

#include <fmt/format.h>

namespace taskbench::reports::model {

std::string fingerprint_digits(std::string_view bytes) {
  const std::uint64_t value = fingerprint(bytes);
  return fmt::format("{:08x}", static_cast<std::uint32_t>(value ^ (value >> 32)));
}

}  // namespace taskbench::reports::model
