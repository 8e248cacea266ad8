// A trace in the Chrome trace event format, which https://ui.perfetto.dev and chrome://tracing
// open.
//
// A row for each worker, with its polls, parks and searches as slices, shorter events as instants,
// and arrows from each spawn and wake to the poll that it caused. Above them a row of the threads
// outside the scheduler, with the iterations. Numbers are µs with three decimals, so that no ns is
// lost; rows are sorted by time.
//
// Reference: "Trace Event Format", the document that chrome://tracing links to.
#pragma once

#include <string>

#include "reports/model/trace.hpp"

namespace taskbench::reports::json {

/// UTF-8, one event per line.
[[nodiscard]] std::string to_chrome_trace(const model::Trace& trace);

}  // namespace taskbench::reports::json
