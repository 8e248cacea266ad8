// The machine and the build with which times were measured: all that determines speed and does not
// vary from run to run. Times with different keys are not comparable. Contains no measured clock
// rate and no load.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace taskbench::reports::model {

/// A fact. An empty value means "unknown", and equals only another empty one.
struct KeyField {
  std::string name;
  std::string value;

  friend bool operator==(const KeyField&, const KeyField&) = default;
};

struct MachineKey {
  std::vector<KeyField> machine;  ///< CPU, topology, kernel, hypervisor and so on, in this order
  std::vector<KeyField> build;    ///< of the measured program and of the canary

  friend bool operator==(const MachineKey&, const MachineKey&) = default;
};

/// The value of a field; empty if no field has the name.
[[nodiscard]] std::string_view value_of(const std::vector<KeyField>& fields, std::string_view name);

/// "xeon-8481c-2cpu-kvm-1a2b3c4d": a readable part, and eight digits of a hash of the machine
/// fields. Only lower-case letters, digits, dots and dashes, since it is the name of a folder.
[[nodiscard]] std::string machine_key(const MachineKey& key);

/// Like machine_key(), with a hash over the build fields as well.
[[nodiscard]] std::string baseline_key(const MachineKey& key);

/// A field that differs between two keys; empty for a key that lacks it.
struct KeyDifference {
  std::string name;
  std::string first;
  std::string second;

  friend bool operator==(const KeyDifference&, const KeyDifference&) = default;
};

/// The fields that differ, in the order of the first key, then fields that only the second has. The
/// order of fields does not matter.
[[nodiscard]] std::vector<KeyDifference> differences(const std::vector<KeyField>& first,
                                                     const std::vector<KeyField>& second);

/// The machine fields that differ, then the build fields.
[[nodiscard]] std::vector<KeyDifference> differences(const MachineKey& first,
                                                     const MachineKey& second);

}  // namespace taskbench::reports::model
