#include "reports/model/machine_key.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "reports/model/fingerprint.hpp"
#include "reports/model/lookup.hpp"

namespace taskbench::reports::model {
namespace {

constexpr std::size_t kMaxSlug = 40;

/// The fields as one text for hashing. Sorted, so that their order does not matter; with a NUL
/// after each text, so that "ab", "c" differs from "a", "bc".
std::string hashed_text(std::vector<KeyField> fields) {
  std::ranges::sort(fields, {}, &KeyField::name);
  std::string text;
  for (const KeyField& field : fields) {
    for (const std::string& each : {field.name, field.value}) text += each + '\0';
  }
  return text;
}

/// Letters and digits in lower case; a dash for each run of other characters.
std::string slug(std::string_view text) {
  std::string result;
  for (const char each : text) {
    const bool digit_or_letter = (each >= '0' && each <= '9') || (each >= 'a' && each <= 'z');
    if (digit_or_letter || (each == '.' && !result.empty() && result.back() != '-')) {
      result += each;
    } else if (each >= 'A' && each <= 'Z') {
      result += static_cast<char>(each - 'A' + 'a');
    } else if (!result.empty() && result.back() != '-') {
      result += '-';
    }
  }
  while (!result.empty() && (result.back() == '-' || result.back() == '.')) result.pop_back();
  return result;
}

/// "Intel(R) Xeon(R) Platinum 8481C CPU @ 2.70GHz" → "xeon-platinum-8481c".
std::string model_slug(std::string_view model) {
  constexpr std::array<std::string_view, 9> kNoise{
      "intel", "amd", "r", "tm", "cpu", "processor", "apm", "core", "with",
  };
  std::string words = slug(model.substr(0, model.find('@')));
  std::string result;
  for (std::string_view rest = words; !rest.empty();) {
    const auto dash = rest.find('-');
    const std::string_view word = rest.substr(0, dash);
    if (!contains(kNoise, word)) {
      if (!result.empty()) result += '-';
      result += word;
    }
    rest = dash == std::string_view::npos ? std::string_view{} : rest.substr(dash + 1);
  }
  result.resize(std::min(result.size(), kMaxSlug));
  while (result.ends_with('-') || result.ends_with('.')) result.pop_back();
  return result.empty() ? "cpu" : result;
}

std::string readable(const MachineKey& key) {
  std::string text = model_slug(value_of(key.machine, "cpu_model"));
  if (const auto cpus = slug(value_of(key.machine, "cpus")); !cpus.empty()) {
    text += fmt::format("-{}cpu", cpus);
  }
  const std::string hypervisor = slug(value_of(key.machine, "hypervisor"));
  if (!hypervisor.empty() && hypervisor != "none") text += '-' + hypervisor;
  return text;
}

}  // namespace

std::string_view value_of(const std::vector<KeyField>& fields, std::string_view name) {
  const auto* const found = element_of(fields, name, &KeyField::name);
  return found == nullptr ? std::string_view{} : std::string_view(found->value);
}

std::string machine_key(const MachineKey& key) {
  return readable(key) + '-' + fingerprint_digits(hashed_text(key.machine));
}

std::string baseline_key(const MachineKey& key) {
  return readable(key) + '-' +
         fingerprint_digits(hashed_text(key.machine) + hashed_text(key.build));
}

std::vector<KeyDifference> differences(const std::vector<KeyField>& first,
                                       const std::vector<KeyField>& second) {
  std::vector<KeyDifference> result;
  const auto compare = [&](const std::string& name) {
    const std::string_view a = value_of(first, name);
    const std::string_view b = value_of(second, name);
    if (a != b) result.push_back({name, std::string(a), std::string(b)});
  };
  for (const KeyField& field : first) compare(field.name);
  for (const KeyField& field : second) {
    if (!contains(first, field.name, &KeyField::name)) compare(field.name);
  }
  return result;
}

std::vector<KeyDifference> differences(const MachineKey& first, const MachineKey& second) {
  std::vector<KeyDifference> result = differences(first.machine, second.machine);
  const std::vector<KeyDifference> of_build = differences(first.build, second.build);
  result.insert(result.end(), of_build.begin(), of_build.end());
  return result;
}

}  // namespace taskbench::reports::model
