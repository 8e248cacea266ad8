#include "harness/bench/wrk.hpp"

#include <array>
#include <charconv>
#include <sstream>

#include "harness/os/process.hpp"
#include "harness/os/system_file.hpp"

namespace taskbench::harness {
namespace {

/// Time that wrk may take beyond its given duration: it does not wait for answers at the end.
constexpr double kWrkPatience_s = 30;
constexpr double kVersionPatience_s = 10;

constexpr std::array<std::pair<std::string_view, double>, 5> kTimeUnits{
    {{"us", 1e3}, {"ms", 1e6}, {"s", 1e9}, {"m", 60e9}, {"h", 3600e9}}};

[[noreturn]] void throw_not_understood(std::string_view line) {
  throw workloads::LoadError(
      fmt::format("wrk's output is not understood: '{}'", line.substr(0, 60)));
}

/// Removes the number at the beginning of `text`, and returns it.
double take_number(std::string_view& text, std::string_view line) {
  double number = 0;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), number);
  if (parsed.ec != std::errc() || !(number >= 0 && number < 1e18)) throw_not_understood(line);
  text.remove_prefix(static_cast<std::size_t>(parsed.ptr - text.data()));
  return number;
}

double number_in(std::string_view text, std::string_view line) {
  const double number = take_number(text, line);
  if (!text.empty() && text != ",") throw_not_understood(line);
  return number;
}

/// Parses "1.02ms".
double time_ns_in(std::string_view text, std::string_view line) {
  const double number = take_number(text, line);
  for (const auto& [unit, ns] : kTimeUnits) {
    if (text == unit) return number * ns;
  }
  throw_not_understood(line);
}

/// Parses "Socket errors: connect 0, read 2, write 0, timeout 0".
bool has_errors(const std::vector<std::string_view>& words, std::string_view line) {
  bool any = false;
  for (std::size_t i = 3; i < words.size(); i += 2) any |= number_in(words[i], line) != 0;
  return any;
}

/// Parses what `wrk --latency` printed.
workloads::LoadReport parse_wrk(std::string_view output) {
  workloads::LoadReport report;
  bool has_rate = false;
  std::string errors;
  std::istringstream lines{std::string(output)};
  for (std::string line; std::getline(lines, line);) {
    const std::vector<std::string_view> words = words_of(line);
    const std::size_t count = words.size();
    if (count == 5 && words[0] == "Latency") {  // mean, deviation, longest, share
      report.latency_ns["slowest"] = time_ns_in(words[3], line);
    } else if (count == 2 && words[0].ends_with('%')) {
      const std::string percent(words[0].substr(0, words[0].size() - 1));
      static_cast<void>(number_in(percent, line));
      report.latency_ns["p" + percent] = time_ns_in(words[1], line);
    } else if (count > 3 && words[1] == "requests" && words[2] == "in") {
      report.requests = static_cast<std::uint64_t>(number_in(words[0], line));
    } else if (count == 2 && words[0] == "Requests/sec:") {
      report.requests_per_s = number_in(words[1], line);
      has_rate = true;
    } else if ((line.find("Socket errors:") != line.npos && has_errors(words, line)) ||
               line.find("Non-2xx") != line.npos) {
      if (!errors.empty()) errors += "; ";
      errors.append(line, line.find_first_not_of(' '));
    }
  }
  if (!errors.empty()) throw std::runtime_error("wrk reports errors: " + errors);
  if (!has_rate) throw_not_understood(output.substr(0, output.find('\n')));
  for (const char* const needed : {"p50", "p75", "p90", "p99", "slowest"}) {
    if (!report.latency_ns.contains(needed)) throw workloads::LoadError("wrk printed no latencies");
  }
  if (report.requests == 0) throw std::runtime_error("wrk had no request answered");
  return report;
}

}  // namespace

std::string wrk_version() {
  // wrk has no option for the version alone, and reports an error.
  const auto outcome = run_process({.command = {"wrk", "-v"}, .timeout_s = kVersionPatience_s}, {});
  if (outcome.is_missing()) {
    throw workloads::LoadError("wrk is not installed; the package wrk provides it");
  }
  const std::vector<std::string_view> words =
      words_of(std::string_view(outcome.output).substr(0, outcome.output.find('\n')));
  if (outcome.end == ProcessOutcome::End::exited && words.size() > 1 && words[0] == "wrk")
    return std::string(words[1]);
  throw workloads::LoadError(
      fmt::format("'wrk -v' does not tell its version: it {}", outcome.text()));
}

std::optional<workloads::LoadReport> run_wrk(const workloads::LoadRun& run,
                                             const std::stop_token& stop) {
  const auto outcome = run_process({.command = {"wrk", "-t1", fmt::format("-c{}", run.connections),
                                                fmt::format("-d{}", run.seconds), "--latency",
                                                fmt::format("http://127.0.0.1:{}/", run.port)},
                                    .timeout_s = run.seconds + kWrkPatience_s},
                                   stop);
  if (outcome.end == ProcessOutcome::End::interrupted) return std::nullopt;
  if (!outcome.ok()) throw workloads::LoadError("wrk " + outcome.text());
  return parse_wrk(outcome.output);
}

}  // namespace taskbench::harness
