// What is handed to those that stop when they are told, where nobody tells them.
#pragma once

#include <atomic>

namespace taskbench::workloads::measure {

inline const std::atomic<bool> kNeverStop{false};

}  // namespace taskbench::workloads::measure
