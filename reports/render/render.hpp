// Renders the results of commands as documents, and as records for machines: a row for each
// measurement, in fixed columns, with every digit. The printers are in document.hpp.
#pragma once

#include "reports/model/doctor.hpp"
#include "reports/model/ladder.hpp"
#include "reports/model/noise.hpp"
#include "reports/model/run.hpp"
#include "reports/model/trace.hpp"
#include "reports/render/document.hpp"
#include "reports/verdict/file_columns.hpp"
#include "reports/verdict/files.hpp"
#include "reports/verdict/ladder.hpp"

namespace taskbench::reports::render {

/// Median, spread, ns per operation, CPU time, context switches, scheduler counters per iteration;
/// then failed cases with their reason.
[[nodiscard]] Document document(const model::Run& run);

/// A row for each repetition. A failed case has one row, with its error and without numbers. The
/// counts of --counters are in the last columns, the same in each row of a case.
[[nodiscard]] Table records(const model::Run& run);

/// A comparison of result files, of two sides.
[[nodiscard]] Document document(const verdict::FilesReport& report);
/// The comparison as a comment for reviewers: see verdict_table.hpp.
[[nodiscard]] Document comment(const verdict::FilesReport& report);
/// A row for each benchmark.
[[nodiscard]] Table records(const verdict::FilesReport& report);

/// Result files as adjacent columns.
[[nodiscard]] Document document(const verdict::ColumnsReport& report);
/// A row for each benchmark in each column.
[[nodiscard]] Table records(const verdict::ColumnsReport& report);

/// The findings of `taskbench doctor`: disturbances, worst first, with remedies; what is not known;
/// what is in order; the floor; and the cost of an operation of each workload compared with it.
[[nodiscard]] Document document(const model::DoctorReport& report);

/// A machine's noise: for each benchmark its noise floor, how much blocks differ from each other,
/// and what a trial of a few minutes would detect with the default --alpha and --delta of
/// `taskbench ab`.
[[nodiscard]] Document document(const model::NoiseCalibration& noise);

/// A line for each worker and one for the threads outside: how often it did each activity, which
/// shares of the time it polled, searched and slept, its longest poll, and the number of lost
/// events; then the basis of the figures.
[[nodiscard]] Document document(const model::Trace& trace);

/// A table for each workload: the time on each rung, the gain of the step to it with its interval,
/// and the total gain so far; then the total next to that of "Making the Tokio scheduler 10x
/// faster", and a waterfall. A step without a certain gain is a dash.
[[nodiscard]] Document document(const model::Ladder& ladder);

/// The waterfall: a row for each rung, with a bar from the gain without this step to the gain with
/// it; then the total, and that of "Making the Tokio scheduler 10x faster".
[[nodiscard]] Plot waterfall(const model::Ladder& ladder, const verdict::LadderVerdict& verdict);

}  // namespace taskbench::reports::render
