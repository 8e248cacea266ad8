// Judges what the facts about a machine mean for a measurement. Pure functions.
#pragma once

#include <vector>

#include "reports/model/doctor.hpp"

namespace taskbench::reports::verdict {

/// A finding for each check, the worst first; equals are in the order of their typical effect.
[[nodiscard]] std::vector<model::Finding> diagnose(const model::DoctorFacts& facts);

/// Whether a measurement is disturbed, that is, a finding is serious. Moderate findings are not
/// enough, and unknown facts do not count against the machine.
[[nodiscard]] bool is_disturbed(const std::vector<model::Finding>& findings);

}  // namespace taskbench::reports::verdict
