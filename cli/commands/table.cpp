#include <array>

#include "cli/commands/ab.hpp"
#include "cli/commands/baseline.hpp"
#include "cli/commands/calibrate.hpp"
#include "cli/commands/command.hpp"
#include "cli/commands/compare.hpp"
#include "cli/commands/completion.hpp"
#include "cli/commands/doctor.hpp"
#include "cli/commands/gate.hpp"
#include "cli/commands/list.hpp"
#include "cli/commands/profile.hpp"
#include "cli/commands/report.hpp"
#include "cli/commands/run.hpp"
#include "cli/commands/trace.hpp"

namespace taskbench::cli {
namespace {

template <class T>
std::unique_ptr<Command> make() {
  return std::make_unique<T>();
}

constexpr std::array<CommandEntry, 12> kCommands{{
    {"run", make<RunCommand>},
    {"ab", make<AbCommand>},
    {"gate", make<GateCommand>},
    {"baseline", make<BaselineCommand>},
    {"calibrate", make<CalibrateCommand>},
    {"compare", make<CompareCommand>},
    {"report", make<ReportCommand>},
    {"doctor", make<DoctorCommand>},
    {"profile", make<ProfileCommand>},
    {"trace", make<TraceCommand>},
    {"list", make<ListCommand>},
    {"completion", make<CompletionCommand>},
}};

}  // namespace

std::span<const CommandEntry> all_commands() { return kCommands; }

}  // namespace taskbench::cli
