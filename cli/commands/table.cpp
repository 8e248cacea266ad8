#include <array>

#include "cli/commands/ab.hpp"
#include "cli/commands/baseline.hpp"
#include "cli/commands/calibrate.hpp"
#include "cli/commands/command.hpp"
#include "cli/commands/compare.hpp"
#include "cli/commands/completion.hpp"
#include "cli/commands/doctor.hpp"
#include "cli/commands/gate.hpp"
#include "cli/commands/help.hpp"
#include "cli/commands/list.hpp"
#include "cli/commands/profile.hpp"
#include "cli/commands/report.hpp"
#include "cli/commands/run.hpp"
#include "cli/commands/trace.hpp"

namespace taskbench::cli {
namespace {

constexpr std::array<CommandEntry, 13> kAllCommands{{
    {"run", make_command<RunCommand>},
    {"ab", make_command<AbCommand>},
    {"gate", make_command<GateCommand>},
    {"baseline", make_command<BaselineCommand>},
    {"calibrate", make_command<CalibrateCommand>},
    {"compare", make_command<CompareCommand>},
    {"report", make_command<ReportCommand>},
    {"doctor", make_command<DoctorCommand>},
    {"profile", make_command<ProfileCommand>},
    {"trace", make_command<TraceCommand>},
    {"list", make_command<ListCommand>},
    {"completion", make_command<CompletionCommand>},
    {"help", make_command<HelpCommand>},
}};

}  // namespace

std::span<const CommandEntry> all_commands() { return kAllCommands; }

}  // namespace taskbench::cli
