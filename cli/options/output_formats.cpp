#include "cli/options/output_formats.hpp"

#include <array>

namespace taskbench::cli {
namespace {

using model::Run;
using render::TableStyle;

constexpr std::array<OutputFormat, 4> kOutputFormats{{
    {"table", render::table},
    {"libtest", [](const Run& run, const TableStyle&) { return render::libtest(run); }},
    {"csv", [](const Run& run, const TableStyle&) { return render::csv(run); }},
    {"markdown", [](const Run& run, const TableStyle&) { return render::markdown(run); }},
}};

}  // namespace

std::span<const OutputFormat> output_formats() { return kOutputFormats; }

}  // namespace taskbench::cli
