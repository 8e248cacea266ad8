#include "reports/render/formats.hpp"

#include <array>
#include <cstddef>

namespace taskbench::reports::render {
namespace {

std::string as_markdown(const Answer& answer, const TableStyle& /*style*/) {
  return markdown(answer.comment ? *answer.comment : answer.document);
}

std::string as_csv(const Answer& answer, const TableStyle& /*style*/) {
  return answer.records ? csv(*answer.records) : csv(answer.document);
}

constexpr std::size_t kOfAnyAnswer = 5;
constexpr std::array<Format, 7> kFormats{{
    {"table",
     [](const Answer& of, const TableStyle& style) { return terminal(of.document, style); }, true},
    {"markdown", as_markdown},
    {.name = "csv", .print = as_csv, .has_reasons = false},
    {"html", [](const Answer& of, const TableStyle&) { return html(of.document); }},
    {"json", [](const Answer& of, const TableStyle&) { return of.json(); }},
    {.name = "openmetrics",
     .print = [](const Answer& of, const TableStyle&) { return open_metrics(of.measures()); },
     .has_reasons = false},
    {.name = "bmf",
     .print = [](const Answer& of, const TableStyle&) { return bencher_metrics(of.measures()); },
     .has_reasons = false},
}};

}  // namespace

std::span<const Format> formats() { return std::span(kFormats).first<kOfAnyAnswer>(); }

std::span<const Format> formats_of_measures() { return kFormats; }

}  // namespace taskbench::reports::render
