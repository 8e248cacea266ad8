// What a trace comes to, as text.
#pragma once

#include <string>

#include "reports/model/trace.hpp"
#include "reports/render/render.hpp"

namespace taskbench::reports::render {

/// A line for each worker and one for the threads outside: what it did how often, which shares of
/// the time it polled, searched and slept, its longest poll, and how many events were lost; below
/// it what the figures rest on.
[[nodiscard]] std::string table(const model::Trace& trace, const TableStyle& style);

}  // namespace taskbench::reports::render
