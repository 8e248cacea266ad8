#include <fmt/format.h>

#include <string>
#include <string_view>

#include "reports/render/figures.hpp"
#include "reports/render/render.hpp"

namespace taskbench::reports::render {
namespace {

/// What would end a cell, start a tag or change the meaning of a cell, made harmless. Underscores
/// within words mean nothing in GitHub's Markdown, and names are full of them.
std::string escaped(std::string_view text) {
  std::string result;
  for (const char c : text) {
    switch (c) {
      case '|':
      case '\\':
      case '`':
      case '*':
      case '[':
      case ']':
        result += '\\';
        result += c;
        break;
      case '<':
        result += "&lt;";
        break;
      case '&':
        result += "&amp;";
        break;
      case '\n':
        result += "<br>";
        break;
      case '\r':
        break;
      default:
        result += c;
    }
  }
  return result;
}

/// "median, µs", "steals/iter"
std::string title(const Column& column) {
  return column.is_counter ? fmt::format("{}{}", column.title, column.unit)
                           : fmt::format("{}, {}", column.title, column.unit);
}

std::string header(const Figures& figures) {
  std::string titles = "| workload | scheduler | workers |";
  std::string alignment = "|:--|:--|--:|";
  for (const Column& column : figures.columns) {
    titles += fmt::format(" {} |", title(column));
    alignment += "--:|";
  }
  return titles + '\n' + alignment + '\n';
}

std::string line(const Row& row) {
  const model::Case& measured = *row.measured;
  const std::string parameters = changed_parameters(measured);
  std::string text =
      fmt::format("| {}{}{} | {} | {} |", escaped(measured.workload), parameters.empty() ? "" : " ",
                  escaped(parameters), escaped(measured.scheduler), measured.workers);
  for (const std::string& cell : row.cells) {
    text += fmt::format(" {} |", escaped(cell));
  }
  return text + '\n';
}

}  // namespace

std::string markdown(const model::Run& run) {
  const Figures shown = figures(run);
  std::string text;
  if (!shown.empty()) {
    text += header(shown);
    for (const Group& group : shown.groups) {
      for (const Row& row : group.rows) {
        text += line(row);
      }
    }
  } else if (shown.failed.empty() && shown.unmeasured.empty()) {
    text += "Nothing was measured.\n";
  }
  const auto paragraph = [&text](const std::string& content) {
    text += (text.empty() ? "" : "\n") + content + '\n';
  };
  for (const model::Case* failed : shown.failed) {
    paragraph(fmt::format("**Failed** {}: {}", escaped(failed->name), escaped(failed->error)));
  }
  for (const model::Case* unmeasured : shown.unmeasured) {
    paragraph(
        fmt::format("**Not measured** {}: no repetition was completed", escaped(unmeasured->name)));
  }
  if (run.partial) {
    paragraph("**Partial**: interrupted, some repetitions that were asked for are missing.");
  }
  if (!shown.empty()) {
    for (const std::string& sentence : explanation(shown, false)) {
      paragraph(escaped(sentence));
    }
  }
  if (const std::string machine = provenance(run.environment); !machine.empty()) {
    paragraph(fmt::format("On {}.", escaped(machine)));
  }
  return text;
}

}  // namespace taskbench::reports::render
