// Results as people and machines see them, for tests of their text.
#pragma once

#include <string>

#include "reports/render/paired.hpp"
#include "reports/render/render.hpp"

namespace taskbench::reports::render {

template <class Result>
std::string table(const Result& result, const TableStyle& style) {
  return terminal(document(result), style);
}

inline std::string table(const model::PairedTrial& trial, const verdict::PairedReport& report,
                         const TableStyle& style) {
  return terminal(document(trial, report), style);
}

template <class Result>
std::string as_markdown(const Result& result) {
  return markdown(document(result));
}

template <class Result>
std::string as_csv(const Result& result) {
  return csv(records(result));
}

}  // namespace taskbench::reports::render
