// On what machine, and with what build, times were measured: what decides speed and does not
// jitter. Times of different keys are not comparable. Never a measured clock rate or a load in it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace taskbench::reports::model {

/// An empty value means "could not be found out", and equals only another empty one.
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

/// The value of the field; empty when there is none of the name, too.
[[nodiscard]] std::string_view value_of(const std::vector<KeyField>& fields, std::string_view name);

/// "xeon-8481c-2cpu-kvm-1a2b3c4d": for people, and then eight digits of a hash of the machine
/// fields. Only lower-case letters, digits, dots and dashes: it is the name of a folder.
[[nodiscard]] std::string machine_key(const MachineKey& key);

/// The same, with the hash over the build fields as well.
[[nodiscard]] std::string baseline_key(const MachineKey& key);

/// A field that differs. A field that one of two keys lacks is empty there.
struct KeyDifference {
  std::string name;
  std::string first;
  std::string second;

  friend bool operator==(const KeyDifference&, const KeyDifference&) = default;
};

/// In the order of the first's fields, then those that only the second has. The order of the fields
/// alone is no difference.
[[nodiscard]] std::vector<KeyDifference> differences(const std::vector<KeyField>& first,
                                                     const std::vector<KeyField>& second);

/// Of the machine fields, then of the build fields.
[[nodiscard]] std::vector<KeyDifference> differences(const MachineKey& first,
                                                     const MachineKey& second);

}  // namespace taskbench::reports::model
