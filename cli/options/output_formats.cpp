#include "cli/options/output_formats.hpp"

#include <array>

namespace taskbench::cli {
namespace {

using reports::model::Run;
using reports::render::TableStyle;

constexpr std::array<OutputFormat, 4> kOutputFormats{{
    {"table", reports::render::table},
    {"libtest", [](const Run& run, const TableStyle&) { return reports::render::libtest(run); }},
    {"csv", [](const Run& run, const TableStyle&) { return reports::render::csv(run); }},
    {"markdown", [](const Run& run, const TableStyle&) { return reports::render::markdown(run); }},
}};

}  // namespace

std::span<const OutputFormat> output_formats() { return kOutputFormats; }

}  // namespace taskbench::cli
