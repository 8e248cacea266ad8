// The result of an attempt to send without waiting.
#pragma once

#include <cstdint>

namespace taskbench::rt::sync {

enum class TrySend : std::uint8_t { sent, full, closed };

}  // namespace taskbench::rt::sync
