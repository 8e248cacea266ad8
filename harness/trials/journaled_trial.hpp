// How a trial begins, goes on after an interruption, and ends: the steps that ab, gate, baseline,
// calibrate and ladder share. Each trial says what its journal holds and what it measures.
#pragma once

#include "harness/trials/line_file.hpp"
#include "harness/trials/names.hpp"
#include "reports/json/baseline.hpp"
#include "reports/json/paired.hpp"

namespace taskbench::harness {

/// The journal of a trial, as its user wants it.
struct JournalPlan {
  fs::path path{};        ///< empty: the trial is not kept
  bool resume = false;    ///< go on with the trial that is there
  bool is_named = false;  ///< by its user; such a journal stays also when its trial has ended
  /// As in CI, where an earlier job may have left a journal: it is replaced, and a missing one is
  /// no reason not to begin.
  bool is_replaced = false;
};

enum class Ending {
  complete,
  needless,     ///< there was nothing to measure
  interrupted,  ///< told to stop; it can go on
  not_begun,    ///< told to stop before anything was kept
};

class JournaledTrial {
 public:
  JournaledTrial(const JournaledTrial&) = delete;
  JournaledTrial& operator=(const JournaledTrial&) = delete;
  virtual ~JournaledTrial() = default;

  /// Goes on with the trial of the journal, or makes room for a new one and begins it; measures
  /// until it is complete or told to stop. A complete trial does not need its program. Throws
  /// UsageError, ProgramError and json::JournalError; what was measured is then kept.
  Ending run();

 protected:
  JournaledTrial(JournalPlan journal, std::stop_token stop)
      : journal_(std::move(journal)), stop_(std::move(stop)) {}

  /// run(), in which everything fails that was told to stop.
  virtual Ending run_steps();

  [[nodiscard]] const fs::path& journal() const { return journal_.path; }
  [[nodiscard]] const std::stop_token& stop() const { return stop_; }

 private:
  // What the journal holds, for trials that are kept: see KeptTrial.
  [[nodiscard]] virtual std::string first_line() const { return {}; }
  virtual void read() {}
  [[nodiscard]] virtual bool has_ended() const { return false; }
  /// What the journal is of, in messages.
  [[nodiscard]] virtual std::string_view noun() const { return "trial"; }
  /// Throws UsageError if the trial that was read is not the one that is asked for.
  virtual void refuse_other() {}

  /// Finds out what has to be known before the journal is looked at.
  virtual void look_up() {}
  [[nodiscard]] virtual bool is_complete() const = 0;
  /// Whether a complete trial is measured further.
  [[nodiscard]] virtual bool wants_more() { return false; }
  /// Finds the programs and, unless it goes on, all that the first line holds. False if there is
  /// nothing to measure.
  [[nodiscard]] virtual bool prepare(bool goes_on) = 0;
  /// Measures until the trial is complete or told to stop. Each process is in the journal before
  /// the next begins.
  virtual void measure(LineFile& journal) = 0;

  [[nodiscard]] bool open();
  void make_room() const;

  JournalPlan journal_;
  std::stop_token stop_;
  bool has_begun_ = false;
};

/// A trial whose journal is that of a model::PairedTrial or model::Series.
template <class Trial>
class KeptTrial : public JournaledTrial {
 protected:
  using Reader = Trial(const fs::path&);
  KeptTrial(JournalPlan journal, std::stop_token stop, Reader* reader, Trial& trial)
      : JournaledTrial(std::move(journal), std::move(stop)), reader_(reader), trial_(trial) {}

 private:
  [[nodiscard]] std::string first_line() const final { return json::journal_line(trial_.setup); }
  void read() final { trial_ = reader_(journal()); }
  [[nodiscard]] bool has_ended() const final { return reader_(journal()).complete(); }
  [[nodiscard]] bool is_complete() const final { return trial_.complete(); }

  Reader* reader_;

 protected:
  Trial& trial_;
};

}  // namespace taskbench::harness
