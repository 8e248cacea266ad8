#include <array>

#include "cli/commands/command.hpp"

namespace taskbench::cli {
namespace {

constexpr std::array<CommandEntry, 13> kAllCommands{{
    {"run", run_command},
    {"ab", ab_command},
    {"gate", gate_command},
    {"baseline", baseline_command},
    {"calibrate", calibrate_command},
    {"compare", compare_command},
    {"report", report_command},
    {"doctor", doctor_command},
    {"profile", profile_command},
    {"trace", trace_command},
    {"list", list_command},
    {"completion", completion_command},
    {"help", help_command},
}};

}  // namespace

std::span<const CommandEntry> all_commands() { return kAllCommands; }

}  // namespace taskbench::cli
