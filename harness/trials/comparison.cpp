#include "harness/trials/comparison.hpp"

#include "harness/files/stored.hpp"
#include "harness/machine/environment.hpp"
#include "harness/machine/machine.hpp"
#include "harness/programs/documentation.hpp"
#include "harness/programs/identity.hpp"
#include "harness/programs/layouts.hpp"
#include "harness/programs/program_folder.hpp"
#include "harness/trials/attendance.hpp"
#include "harness/trials/counted_trial.hpp"
#include "reports/json/paired.hpp"
#include "reports/model/date.hpp"
#include "reports/model/lookup.hpp"
#include "reports/verdict/digits.hpp"

namespace taskbench::harness {
namespace {

using model::kBothSides;
using model::Side;
using Stage = model::PairedFailure::Stage;

constexpr double kSilence_s = 2;  // too short to need an explanation

/// One comparison: its plan and its state so far.
class Comparison final : public KeptTrial<model::PairedTrial> {
 public:
  Comparison(const ComparisonPlan& plan, const Listener& listener, const std::stop_token& stop,
             Compared& state)
      : KeptTrial(plan.journal, stop, read_journal, state.trial),
        plan_(plan),
        listener_(listener),
        why_identical_(state.why_identical) {
    trial_.setup = plan.setup;
  }

 private:
  Ending run_steps() override {
    if (plan_.build_only.size() == 1) return build_only();
    try {
      return plan_.build_only.empty() ? run_or_fail() : build_only();
    } catch (const NotComparable& failed) {
      const model::PairedFailure& failure = failed.failure;
      const bool is_of_base = failure.side == Side::base && !program(Side::base).commit.empty();
      const bool is_base_command = failure.side == Side::base && !is_of_base;
      if (plan_.is_gate && is_base_command && !stop().stop_requested()) {
        model::PairedFailure of_command = failure;
        of_command.message +=
            ". There is nothing to compare with: give a --base that runs, or a revision by "
            "--base-rev, which leaves the result inconclusive if it alone fails";
        throw NotComparable(std::move(of_command), failed.is_usage);
      }
      if (!plan_.is_gate || !is_of_base || stop().stop_requested()) throw;
      try {
        try_head_alone();
      } catch (const NotComparable& also) {
        model::PairedFailure both = also.failure;
        both.message += fmt::format(". Base fails, too: {}", failure.message);
        throw NotComparable(std::move(both), also.is_usage);
      }
      throw NotComparable(failure, failed.is_usage, true);
    }
  }

  Ending build_only() {
    if (!plan_.out.empty()) refuse_other_folder(plan_.out);
    look_up();
    const bool is_needless = needs_no_build();
    if (!is_needless) {
      for (const Side side : plan_.build_only) build(side);
    }
    if (!plan_.out.empty()) put_out(is_needless);
    return is_needless ? Ending::needless : Ending::complete;
  }

  /// Puts both built programs into a folder for other machines.
  void put_out(bool is_needless) {
    trial_.setup.identical = why_identical_;
    for (const Side side : kBothSides) {
      if (is_needless) break;
      draw_layouts(side, false);
      program(side).digest = digest_of_command(program(side).command);
    }
    save_programs(plan_.out, trial_.setup, plan_.outputs,
                  plan_.cwd.is_relative() ? plan_.cwd : fs::path());
  }

  /// Runs the trial, and turns every failure of a program into a NotComparable.
  Ending run_or_fail() {
    try {
      return JournaledTrial::run_steps();
    } catch (const NotComparable&) {
      throw;
    } catch (const SideError& error) {
      std::string benchmark = error.benchmark;
      if (benchmark.empty() && plan_.is_gate && !stop().stop_requested()) {
        benchmark = failing_benchmark(*programs_, error.side, trial_.setup, *bench_);
      }
      fail_measuring(error, error.side, std::move(benchmark));
    } catch (const ProgramError& error) {
      const Strings& failing = trial_.setup.failing_in_base;
      if (failing.empty()) throw NotComparable({.stage = Stage::compare, .message = error.what()});
      throw NotComparable(
          {.stage = Stage::compare,
           .side = Side::base,
           .message = fmt::format("{}; base fails in {}", error.what(), model::some_of(failing))});
    }
  }

  [[nodiscard]] model::PairedProgram& program(Side side) { return of(trial_.setup, side); }
  [[nodiscard]] fs::path root(Side side) { return program(side).checkout; }

  /// Looks up the commits of the revisions, since a journal may be of other commits.
  void look_up() override {
    if (!plan_.programs.empty()) {
      load_programs(plan_.programs, trial_.setup);
      for (const Side side : kBothSides) program(side).cwd = where_it_runs(side).string();
    } else {
      look_up_sources();
    }
    if (plan_.part) trial_.setup.part = this_part(*plan_.part);
    asked_ = trial_.setup;
  }

  void look_up_sources() {
    std::string repeating = "taskbench ab";
    for (const Side side : kBothSides) {
      const ProgramSource& source = of(plan_, side);
      program(side).command = source.command;
      if (source.revision.empty()) {
        repeating += fmt::format(" --{} {}", name_of(side), shell_word(source.command));
      } else {
        if (!repository_) repository_.emplace(stop());
        program(side).revision = source.revision;
        const std::string option = fmt::format("--{}-rev", name_of(side));
        program(side).commit = repository_->commit_of(option, source.revision);
        repeating += fmt::format(" {} {}", option, abbreviated(program(side).commit));
      }
      program(side).cwd = where_it_runs(side).string();
    }
    if (plan_.base.given() && plan_.head.given()) {
      trial_.setup.reproduce = repeating + plan_.repeating_options;
    }
    if (repository_ && compares_head() && !repository_->uncommitted_files(false).empty()) {
      listener_.note("uncommitted changes are not measured: HEAD is compared as it was committed");
    }
    if (repository_ && lacks_flags(plan_.recipe)) {
      listener_.note(
          fmt::format("builds get no -g -O2 and no -ffunction-sections: the path of the cache, "
                      "'{}', has a blank "
                      "or a quote, which CFLAGS cannot contain; name another folder by --cache",
                      plan_.recipe.cache.string()));
    }
  }

  /// The arguments of a side's program. Its path may differ between machines.
  [[nodiscard]] std::string arguments_of(Side side) {
    const bool is_revision = !of(plan_, side).revision.empty();
    const std::string& command = is_revision ? plan_.recipe.program : program(side).command;
    if (command.empty()) return {};  // resumed: the journal has it
    try {
      Strings words = split_command(command);
      words.erase(words.begin());
      return command_of(words);
    } catch (const std::invalid_argument& error) {
      refuse("--{} '{}': {}", name_of(side), command, error.what());
    }
  }

  /// The part, in the form that its journal records.
  [[nodiscard]] model::TrialPart this_part(const PartOf& part) {
    const model::Environment here = probe_environment("");
    Strings alike = plan_.workloads;
    for (const Side side : kBothSides) {
      alike.push_back(fmt::format("--{} {}", name_of(side), arguments_of(side)));
    }
    if (plan_.cwd.is_relative()) {
      alike.push_back("--cwd " + (plan_.cwd / ".").lexically_normal().string());
    }
    return {.number = part.number,
            .of = part.of,
            .plan = json::plan_digest(plan_.setup, alike, part.of),
            .machine = probe_identity(),
            .kind = probe_machine().machine,
            .host = here.host_name,
            .date = here.date};
  }

  /// The folder that a side's program runs in, in the form that the journal records.
  [[nodiscard]] fs::path where_it_runs(Side side) const {
    const bool is_revision = !of(plan_, side).revision.empty() || !plan_.programs.empty();
    if (plan_.cwd.empty()) return is_revision ? fs::path(".") : fs::current_path();
    const fs::path normal = (is_revision ? plan_.cwd : fs::absolute(plan_.cwd)).lexically_normal();
    return normal.has_filename() ? normal : normal.parent_path();  // "data/"
  }

  /// The folder that a side's processes run in; empty for the current folder.
  [[nodiscard]] fs::path folder_of(Side side) {
    const fs::path cwd = program(side).cwd;
    if (program(side).commit.empty()) return cwd == fs::current_path() ? fs::path() : cwd;
    return cwd == "." ? root(side) : root(side) / cwd;
  }

  [[nodiscard]] bool compares_head() const {
    const auto head = repository_->find_commit("HEAD");
    return head && (*head == trial_.setup.base.commit || *head == trial_.setup.head.commit);
  }

  /// Whether the revisions have equal files, except for some that no program sees. If so, neither
  /// is built; otherwise, records the differences.
  bool have_equal_sources() {
    const std::string& base = program(Side::base).commit;
    const std::string& head = program(Side::head).commit;
    if (!plan_.programs.empty()) {  // checked when they were built
      why_identical_ = trial_.setup.identical;
      return !why_identical_.empty();
    }
    if (base.empty() || head.empty()) return false;
    const auto difference =
        difference_in_documentation(*repository_, base, head, plan_.documentation);
    doubt_ = difference.doubt;
    trial_.setup.changed_files = names_to_look_for(difference.sources);
    if (!difference.holds) return false;
    if (!difference.changed.empty()) {
      why_identical_ = fmt::format("the commits differ only in what counts as documentation: {}",
                                   model::some_of(difference.changed));
    } else if (base == head) {
      why_identical_ = fmt::format("base and head are one commit, {}", abbreviated(base));
    } else {
      why_identical_ = "the two commits have the same files";
    }
    if (!compares_head()) return true;
    if (const Strings files = repository_->uncommitted_files(true); !files.empty()) {
      listener_.note(
          fmt::format("what is not committed was not looked at: {}", model::some_of(files)));
    }
    return true;
  }

  /// Whether neither revision is built, since they have equal files. --run-identical builds even
  /// these, unless the folder of --programs lacks them.
  bool needs_no_build() {
    if (!have_equal_sources()) return false;
    if (!plan_.run_identical || !trial_.setup.identical.empty()) return true;
    why_identical_.clear();
    return false;
  }

  void refuse_other() override {
    for (const Side side : kBothSides) refuse_other_program(side);
    refuse_other_part();
    plan_.refuse_other_options(trial_.setup);
    const model::PairedSetup& then = trial_.setup;
    if (!plan_.budget_is_given && then.budget_s > 0) budget_s_ = then.budget_s;
    if (!plan_.timeout_is_given && then.timeout_s > 0) timeout_s_ = then.timeout_s;
    // The recorded counts stay as they are; which of them may grow is for the reader to say.
    if (plan_.acknowledged_is_given) trial_.setup.acknowledged = plan_.setup.acknowledged;
  }

  /// Refuses a program that is not the journal's: the verdict would be mistaken for one on that
  /// program.
  void refuse_other_program(Side side) {
    const model::PairedProgram& then = program(side);
    const model::PairedProgram& now = of(asked_, side);
    const std::string file = journal().string();
    const std::string started = then.commit.empty() ? then.command : abbreviated(then.commit);
    if (!now.commit.empty() && then.commit != now.commit) {
      refuse("--{}-rev: {} is {}, but {} was started with {}; start a new trial", name_of(side),
             now.revision, abbreviated(now.commit), file, started);
    }
    if (!plan_.cwd.empty() && now.cwd != then.cwd) {
      refuse("--cwd: {} was started with {} in '{}'; leave the option out, or start a new trial",
             file, name_of(side), then.cwd.empty() ? "." : then.cwd);
    }
    if (!trial_.end && !then.commit.empty() && then.cwd.empty()) {
      refuse(
          "{} was started by an older taskbench, which ran revisions in the current folder; start "
          "a new trial",
          file);
    }
    if (plan_.program_is_given && !then.checkout.empty() && !is_program_of(then)) {
      refuse("--program: {} was started with '{}', not '{}'; give the same, or start a new trial",
             file, then.command, plan_.recipe.program);
    }
    if (now.command.empty()) return;
    const bool is_in_folder = !plan_.programs.empty();
    if (then.command != now.command || then.commit != now.commit) {
      refuse("--{}: {} was started with '{}', not '{}'; start a new trial",
             is_in_folder ? "programs" : name_of(side), file, is_in_folder ? then.command : started,
             now.command);
    }
    // A complete trial does not need its programs: they may be gone or no longer answer.
    if (!trial_.end) return;
    const std::string digest = is_in_folder ? now.digest : digest_of_command(now.command);
    if (!digest.empty() && digest != then.digest) refuse_rebuilt(then.command, journal());
  }

  /// Whether --program means this command of a revision: a program of its checkout, or in PATH.
  [[nodiscard]] bool is_program_of(const model::PairedProgram& revision) const {
    Strings words = split_command(plan_.recipe.program);
    if (command_of(words) == revision.command) return true;
    words.front() = (fs::path(revision.checkout) / words.front()).string();
    return command_of(words) == revision.command;
  }

  /// Refuses a part that is not the journal's, and resuming it on another machine: a block belongs
  /// to one machine, and so does a part.
  void refuse_other_part() const {
    const auto& then = trial_.setup.part;
    const auto text = [](const auto& part) {
      return part ? fmt::format("part {}/{}", part->number, part->of) : std::string("no part");
    };
    if (plan_.part && text(then) != text(plan_.part)) {
      refuse("--part: {} is {} of a trial, not {}; start a new trial", journal().string(),
             text(then), text(plan_.part));
    }
    if (then && !trial_.end && then->machine != probe_identity()) {
      refuse("{} was started on another machine, {}: continue it there, or start the part again",
             journal().string(), then->host);
    }
  }

  bool prepare(bool goes_on) override {
    if (is_worth_measuring(goes_on)) return true;
    if (!trial_.setup.part) return false;
    trial_.setup.identical = why_identical_;  // for the merge: the other parts say the same
    return true;
  }

  bool is_worth_measuring(bool goes_on) {
    if (goes_on && !trial_.setup.identical.empty()) return false;
    if (!goes_on && needs_no_build()) {
      say_what_is_unchecked();
      return false;
    }
    for (const Side side : kBothSides) build(side);
    programs_ = TrialPrograms{find_program(Side::base), find_program(Side::head)};
    note_kind();
    bench_.emplace(stop(), timeout_s_);
    const bool has_layouts =
        !program(Side::base).layouts.empty() || !program(Side::head).layouts.empty();
    if (!goes_on && !plan_.run_identical && !has_layouts && are_the_same()) return false;
    for (const Side side : kBothSides) {
      // Programs in a folder load other libraries on another machine, but are still the same.
      const std::string digest = plan_.programs.empty() ? digest_of_command(program(side).command)
                                                        : of(asked_, side).digest;
      if (goes_on && program(side).digest != digest) {
        refuse_rebuilt(program(side).command, journal());
      }
      program(side).digest = digest;
    }
    for (const Side side : kBothSides) draw_layouts(side, goes_on);
    if (goes_on) return true;
    find_benchmarks(trial_.setup);
    const std::size_t layouts =
        std::min(program(Side::base).layouts.size(), program(Side::head).layouts.size());
    const auto of_digits = std::exchange(
        trial_.setup.noise_floors,
        noise_floors(plan_.store, probe_machine(), trial_.setup.benchmarks, local_date(), layouts));
    for (auto& [name, floor] : trial_.setup.noise_floors) {
      const auto* const printed = model::find_in(of_digits, name);
      if (printed != nullptr) verdict::raise_to_digits(*printed, floor);
    }
    return true;
  }

  /// Adds the checks that were skipped, since nothing was built, to the reason why the revisions
  /// are identical. Throws NotComparable if the program is known not to be a benchmark.
  void say_what_is_unchecked() {
    if (!plan_.programs.empty()) return;
    Strings unchecked;
    if (!has_checked_program())
      unchecked.push_back("--program " + shell_word(plan_.recipe.program));
    if (!plan_.workloads.empty()) unchecked.emplace_back("--workload");
    if (unchecked.empty()) return;
    why_identical_ +=
        fmt::format("; nothing was built, so that {} {} not checked", joined(unchecked, " and "),
                    unchecked.size() == 1 ? "was" : "were");
  }

  /// Asks the program of revisions that are not built, if a copy exists: built earlier, or in the
  /// working tree. False if there is none, if it cannot start there, or if its answers leave in
  /// doubt whether it is a benchmark. Throws NotComparable.
  bool has_checked_program() {
    for (const Side side : {Side::head, Side::base}) {
      if (!is_cached(*repository_, plan_.recipe, program(side).commit)) continue;
      build(side);
      return find_program(side).is_sure(stop());
    }
    const fs::path tree = repository_->working_tree();
    Strings words = split_command(plan_.recipe.program);
    const std::string name = words.front();
    words.front() = (tree / name).string();
    if (tree.empty() || !fs::exists(words.front())) return false;
    const auto failed = [&](const std::string& problem) {
      return NotComparable(
          {.stage = Stage::start,
           .message = fmt::format("--program, in {}: {}", tree.string(), problem)});
    };
    if (auto problem = why_not_runnable(words.front(), name); !problem.empty()) {
      throw failed(problem);
    }
    try {
      const Asking asking{.timeout_s = timeout_s_,
                          .folder = tree / plan_.cwd,
                          .kind = named_kind(trial_.setup.kind)};
      return Program::find_out(words, stop(), asking).is_sure(stop());
    } catch (const NotMeasurable& error) {
      if (error.has_failed) return false;
      throw failed(error.what());
    } catch (const ProgramError&) {
      return false;
    }
  }

  void build(Side side) {
    if (!plan_.programs.empty()) return;
    if (of(plan_, side).revision.empty()) {
      const std::string& commit = program(side).commit;
      if (commit.empty() || fs::is_directory(root(side))) return;
      refuse(
          "{}: the checkout of {}, which {} runs in, is not there any more; name the revisions "
          "again: --base-rev {} --head-rev {}",
          journal().string(), abbreviated(commit), name_of(side),
          abbreviated(program(Side::base).commit), abbreviated(program(Side::head).commit));
    }
    const std::string name = fmt::format("{} {}", name_of(side), abbreviated(program(side).commit));
    BuildRecipe recipe = plan_.recipe;
    const ProgramKind* const kind = named_kind(trial_.setup.kind);
    recipe.may_be_in_path = kind != nullptr && kind->may_be_in_path(split_command(recipe.program));
    try {
      BuiltRevision built = build_revision(*repository_, recipe, name, program(side).commit, stop(),
                                           listener_.progress);
      const bool is_other = program(side).command != built.command || root(side) != built.source;
      if (is_other && !program(side).command.empty()) {  // the journal's
        refuse(
            "{} was started with another build of {}: --build, --program, --cache, a variable such "
            "as CFLAGS, or a compiler is not the same; start a new trial",
            journal().string(), name_of(side));
      }
      program(side).command = std::move(built.command);
      program(side).checkout = built.source.string();
      builds_in_use_.push_back(std::move(built.use));
    } catch (const BuildError& error) {
      throw NotComparable({.stage = error.is_built ? Stage::start : Stage::build,
                           .side = side,
                           .message = error.what(),
                           .lines = error.last_lines});
    }
  }

  /// The words of a side's command. A pattern for several executables is replaced by the first; all
  /// of them take turns.
  [[nodiscard]] Strings words_of_command(Side side) {
    Strings words = split_command(program(side).command);
    if (!program(side).commit.empty()) return words;
    Strings files = layouts_by_pattern(words.front());
    if (files.empty()) return words;
    for (std::string& file : files) file = fs::absolute(file).string();
    words.front() = files.front();
    if (files.size() > 1) program(side).layouts = std::move(files);
    return words;
  }

  /// Links the program of a revision again. If that fails, it is measured as it was built.
  void draw_layouts(Side side, bool goes_on) {
    model::PairedProgram& sides = program(side);
    const int links = trial_.setup.links;
    if (!sides.commit.empty() && links > 1 && !of(plan_, side).revision.empty()) {
      const std::string name = fmt::format("{} {}", name_of(side), abbreviated(sides.commit));
      Layouts made = link_revision(*repository_, plan_.recipe, name, sides.commit, links, stop(),
                                   listener_.progress);
      if (stop().stop_requested()) throw ProgramError("interrupted");  // not: it cannot be linked
      if (goes_on && sides.layouts != made.files) {
        refuse("{}: {} cannot be linked again as it was then; start a new trial",
               journal().string(), name);
      }
      sides.layouts = std::move(made.files);
      sides.one_layout = std::move(made.why_none);
    }
    for (const std::string& file : sides.layouts) {
      if (fs::exists(file)) continue;
      refuse("{}: {}, a layout of {}, is not there any more; start a new trial", journal().string(),
             file, name_of(side));
    }
  }

  /// Notes a kind that a reader might not expect.
  void note_kind() {
    const ProgramKind& kind = programs_->base.kind();
    if (&kind != &programs_->head.kind() || !kind.is_noted()) return;
    trial_.setup.kind = kind.name();
  }

  /// Finds a side's program. For a command, a program that is not a benchmark is a mistake of the
  /// user, and one that crashes has failed; for a built revision, both are failures.
  [[nodiscard]] Program find_program(Side side) {
    const std::string& command = program(side).command;
    const bool is_built = !program(side).commit.empty();
    const fs::path folder = folder_of(side);
    if (!folder.empty() && !fs::is_directory(folder)) {
      const std::string message = fmt::format("{} has no folder {} to run in; --cwd names another",
                                              name_of(side), program(side).cwd);
      if (!is_built) throw UsageError("--cwd: " + message);
      throw NotComparable({.stage = Stage::start, .side = side, .message = message});
    }
    try {
      const std::string what = fmt::format("asking {} what it measures", name_of(side));
      return Program::find_out(words_of_command(side), stop(),
                               {.timeout_s = timeout_s_,
                                .waiting = waiting_for(what),
                                .folder = folder,
                                .kind = named_kind(trial_.setup.kind)});
    } catch (const std::invalid_argument& error) {
      refuse("--{} '{}': {}", name_of(side), command, error.what());
    } catch (const ProgramError& error) {
      const auto* mistake = is_built ? nullptr : dynamic_cast<const NotMeasurable*>(&error);
      const std::string message =
          is_built ? error.what() : fmt::format("--{}: {}", name_of(side), error.what());
      if (mistake != nullptr && !plan_.is_gate) throw UsageError(message);
      throw NotComparable({.stage = Stage::start, .side = side, .message = message},
                          mistake != nullptr && !mistake->has_failed);
    }
  }

  /// Whether the two programs cannot differ in anything that is measured. Adds a note if only the
  /// executables are equal.
  bool are_the_same() {
    const auto installed = [&](Side side) {
      const fs::path& named = of(plan_, side).root;
      return InstalledProgram{&of(*programs_, side), named.empty() ? root(side) : named,
                              !named.empty()};
    };
    Identity identity;
    try {
      identity = identity_of(installed(Side::base), installed(Side::head), plan_.outputs, stop());
    } catch (const NoSuchOutput& error) {
      refuse("--outputs: {}", error.what());
    }
    if (!identity.holds()) {
      if (identity.doubt.empty()) return false;
      const bool both_are_commands =
          program(Side::base).commit.empty() && program(Side::head).commit.empty();
      listener_.note(fmt::format(
          "the executables are equal, byte for byte, but {}: both are measured. --outputs names "
          "the files that matter, if only some do{}",
          doubt_.empty() || !plan_.outputs.empty() ? identity.doubt : doubt_,
          both_are_commands ? "; --base-root and --head-root name the folders that have all of them"
                            : ""));
      return false;
    }
    // A program that lists nothing, or answers every query in the same way, may be no benchmark,
    // and must not pass as equal.
    if (!programs_->base.is_sure(stop())) {
      listener_.note(
          "the programs are equal, but may not be benchmarks: they list none, or give the same "
          "answer whatever they are asked. Both are measured");
      return false;
    }
    if (!plan_.workloads.empty()) {  // an unmatched name must not pass
      model::PairedSetup found = trial_.setup;
      find_benchmarks(found);
    }
    if (stop().stop_requested()) throw ProgramError("interrupted");  // an answer may be missing
    why_identical_ = identity.reason;
    return true;
  }

  void find_benchmarks(model::PairedSetup& setup) const {
    Strings known = programs_->base.listed();
    known.insert(known.end(), programs_->head.listed().begin(), programs_->head.listed().end());
    const Strings chosen = benchmark_names(plan_.workloads, known);
    const bool are_all = programs_->base.kind().lists_all() && programs_->head.kind().lists_all();
    if (!known.empty() && are_all) refuse_unknown(chosen, known);
    explore(*programs_, chosen, *bench_, setup,
            waiting_for("running both once, to see what they measure"));
    keep_chosen(chosen, setup);
  }

  void measure(LineFile& journal) override {
    const auto& part = trial_.setup.part;
    if (!trial_.setup.identical.empty()) {
      trial_.end = model::TrialEnd::blocks;
      return journal.append(json::journal_line(*trial_.end));
    }
    CountedTrial counted(*programs_, *bench_, listener_.progress, journal, trial_);
    if (!part || part->number == 1) counted.count(budget_s_);  // counts are equal everywhere
    bool has_predicted = part.has_value();  // the other parts' results are not known
    const auto show = [&] {
      const int blocks = verdict::complete_blocks(trial_);
      const double spent_s = verdict::spent_s(trial_);
      if (blocks > 0 && !std::exchange(has_predicted, true)) {
        const std::string text = plan_.prediction(trial_, budget_s_);
        if (!text.empty()) listener_.note(text);
      }
      std::string text =
          fmt::format("block {}, {} of {}", blocks + 1, model::duration_text(spent_s),
                      model::duration_text(budget_s_));
      const double left = budget_s_ - spent_s;
      if (left >= 0.5) text += fmt::format(", at most {} left", model::duration_text(left));
      listener_.progress(text);
    };
    run_trial(*programs_, *bench_, budget_s_, !part, show, journal, trial_);
    if (!plan_.explain || !trial_.end || part) return;
    counted.explain_failures(budget_s_ - verdict::spent_s(trial_));
  }

  /// Checks that head is sound although base is not: otherwise no change could pass that repairs
  /// base or adds the first benchmark. Throws NotComparable.
  void try_head_alone() {
    build(Side::head);
    const Program head = find_program(Side::head);
    const Bench bench{stop(), timeout_s_};
    SampleRequest request = request_of(trial_.setup, timeout_s_);
    request.benchmarks.clear();
    request.iterations.clear();
    request.families = benchmark_names(plan_.workloads, head.listed());
    request.repetitions = head.kind().trial_repetitions();
    request.waiting = waiting_for("running head alone");
    try {
      if (measure_once(head, request, bench).cases.empty()) {
        throw ProgramError(fmt::format("'{}' measures nothing", head.command().front()));
      }
    } catch (const ProgramError& error) {
      const auto* in = dynamic_cast<const BenchmarkError*>(&error);
      fail_measuring(error, Side::head, in != nullptr ? in->benchmark : "");
    }
  }

  [[noreturn]] void fail_measuring(const ProgramError& error, Side side, std::string benchmark) {
    std::string message = error.what();
    if (!program(side).commit.empty()) {
      message += fmt::format("; it ran in {} (--cwd)", folder_of(side).string());
    }
    throw NotComparable({.stage = Stage::measure,
                         .side = side,
                         .benchmark = std::move(benchmark),
                         .message = message});
  }

  /// Reports what is being waited for, once the wait is long enough to be noticed.
  [[nodiscard]] std::function<void(double)> waiting_for(std::string what) const {
    return [this, what = std::move(what)](double elapsed_s) {
      if (elapsed_s < kSilence_s) return;
      listener_.progress(fmt::format("{}, {}", what, model::duration_text(elapsed_s)));
    };
  }

  const ComparisonPlan& plan_;
  const Listener& listener_;
  std::string& why_identical_;
  model::PairedSetup asked_;  ///< which the journal's setup may contradict
  std::optional<GitRepository> repository_;
  std::vector<Descriptor> builds_in_use_;
  std::string doubt_;  ///< what differs between the revisions, as a clause
  double budget_s_ = plan_.setup.budget_s;
  double timeout_s_ = plan_.setup.timeout_s;
  std::optional<TrialPrograms> programs_;
  std::optional<Bench> bench_;
};

}  // namespace

Ending compare(const ComparisonPlan& plan, const Listener& listener, const std::stop_token& stop,
               Compared& comparison) {
  return Comparison(plan, listener, stop, comparison).run();
}

}  // namespace taskbench::harness
