#include "cli/options/output_formats.hpp"

#include <array>

namespace taskbench::cli {
namespace {

using reports::model::Run;
using reports::render::TableStyle;

constexpr std::array<OutputFormat, 4> kOutputFormats{{
    {"table", "for people", reports::render::table},
    {"libtest", "one line a case, as Rust's libtest prints it",
     [](const Run& run, const TableStyle&) { return reports::render::libtest(run); }},
    {"csv", "one row a repetition",
     [](const Run& run, const TableStyle&) { return reports::render::csv(run); }},
    {"markdown", "the table for a README or a comment",
     [](const Run& run, const TableStyle&) { return reports::render::markdown(run); }},
}};

}  // namespace

std::span<const OutputFormat> output_formats() { return kOutputFormats; }

}  // namespace taskbench::cli
