// How a trial begins, resumes after an interruption, and ends: the steps that ab, gate, baseline,
// calibrate and ladder share. Each trial defines the content of its journal and what it measures.
#pragma once

#include "harness/files/line_file.hpp"
#include "harness/files/names.hpp"
#include "reports/json/baseline.hpp"
#include "reports/json/paired.hpp"

namespace taskbench::harness {

/// The user's options for the journal of a trial.
struct JournalPlan {
  fs::path path{};        ///< empty: the trial is not kept
  bool resume = false;    ///< resume the trial that is there
  bool is_named = false;  ///< by the user; such a journal is kept even when its trial has ended
  /// For CI, where an earlier job may have left a journal: it is replaced, and a missing one does
  /// not prevent a new trial.
  bool is_replaced = false;
};

enum class Ending {
  complete,
  needless,     ///< there was nothing to measure
  interrupted,  ///< a stop was requested; it can be resumed
  not_begun,    ///< a stop was requested before anything was kept
};

class JournaledTrial {
 public:
  JournaledTrial(const JournaledTrial&) = delete;
  JournaledTrial& operator=(const JournaledTrial&) = delete;
  virtual ~JournaledTrial() = default;

  /// Resumes the trial of the journal, or makes room for a new trial and begins it; measures until
  /// it is complete or a stop is requested. A complete trial does not need its program. Throws
  /// UsageError, ProgramError and json::JournalError; the measurements so far are then kept.
  Ending run();

 protected:
  JournaledTrial(JournalPlan journal, std::stop_token stop)
      : journal_(std::move(journal)), stop_(std::move(stop)) {}

  /// The steps of run(). Once a stop is requested, any of them may fail.
  virtual Ending run_steps();

  [[nodiscard]] const fs::path& journal() const { return journal_.path; }
  [[nodiscard]] const std::stop_token& stop() const { return stop_; }

 private:
  // The content of the journal, for trials that are kept: see KeptTrial.
  [[nodiscard]] virtual std::string first_line() const { return {}; }
  virtual void read() {}
  [[nodiscard]] virtual bool has_ended() const { return false; }
  /// The noun for this kind of trial in messages.
  [[nodiscard]] virtual std::string_view noun() const { return "trial"; }
  /// Throws UsageError if the trial that was read is not the requested one.
  virtual void refuse_other() {}

  /// Looks up what must be known before the journal is read.
  virtual void look_up() {}
  [[nodiscard]] virtual bool is_complete() const = 0;
  /// Whether a complete trial is to be measured further.
  [[nodiscard]] virtual bool wants_more() { return false; }
  /// Finds the programs and, unless the trial is resumed, everything for the first line. False if
  /// there is nothing to measure.
  [[nodiscard]] virtual bool prepare(bool goes_on) = 0;
  /// Measures until the trial is complete or a stop is requested. Each process is in the journal
  /// before the next begins.
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
