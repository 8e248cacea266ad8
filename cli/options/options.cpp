#include "cli/options/options.hpp"

#include <charconv>
#include <cmath>
#include <system_error>

#include "harness/os/system_file.hpp"

namespace taskbench::cli {
namespace {

struct Unit {
  std::string_view name;
  double seconds;
};

constexpr Unit kUnits[] = {{"us", 1e-6}, {"ms", 1e-3}, {"s", 1}, {"m", 60}, {"h", 3600}};

[[noreturn]] void refuse_range(std::string_view name, std::string_view text, std::string_view min,
                               std::string_view max) {
  refuse("{}: '{}' is out of range; it must be from {} to {}", name, shortened(text), min, max);
}

}  // namespace

std::uint64_t parse_whole_number(std::string_view name, std::string_view text, std::uint64_t min,
                                 std::uint64_t max) {
  const std::string_view digits = text.starts_with('-') ? text.substr(1) : text;
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  if (digits.empty() || !std::ranges::all_of(digits, is_digit)) {
    refuse("{}: '{}' is not a whole number; give one from {} to {}", name, shortened(text), min,
           max);
  }
  std::uint64_t value = 0;
  const auto result = std::from_chars(text.data(), text.data() + text.size(), value);
  // The text is all digits, so the only errors left are a sign or more than 64 bits.
  if (result.ec != std::errc{} || value < min || value > max) {
    refuse_range(name, text, std::to_string(min), std::to_string(max));
  }
  return value;
}

std::string duration_limit_text(double seconds) {
  // The largest unit of which `seconds` is a whole multiple: 70s is not written in minutes. If
  // there is none, the largest unit below it.
  const Unit* unit = kUnits;
  bool is_whole = false;
  for (const Unit& candidate : kUnits) {
    const double number = seconds / candidate.seconds;
    if (number < 1 - 1e-9) break;
    const bool whole = std::abs(number - std::round(number)) < 1e-9 * number;
    if (is_whole && !whole) continue;
    unit = &candidate;
    is_whole = whole;
  }
  return fmt::format("{:.10g}{}", seconds / unit->seconds, unit->name);
}

double Duration::parse(std::string_view name, const Strings& words) const {
  const std::string_view text = single(name, words);
  double number = 0;
  const char* end = text.data() + text.size();
  const auto result = std::from_chars(text.data(), end, number);
  std::string_view unit_name(result.ptr, static_cast<std::size_t>(end - result.ptr));
  if (unit_name.empty()) unit_name = "s";
  const auto unit = std::ranges::find(kUnits, unit_name, &Unit::name);
  // from_chars takes "inf" and "nan" too.
  if (result.ec == std::errc::invalid_argument || unit == std::end(kUnits) || std::isnan(number)) {
    refuse(
        "{}: '{}' is not a duration; write seconds, or a number with us, ms, s, m or h: 0.1, "
        "500ms, 2m",
        name, shortened(text));
  }
  const double seconds = number * unit->seconds;
  // The limits have a small tolerance: 0.1 ms and 1e-4 s differ in the last bit.
  const bool inside = seconds >= min_s * (1 - 1e-9) && seconds <= max_s * (1 + 1e-9);
  if (result.ec != std::errc{} || !inside) {
    refuse_range(name, text, duration_limit_text(min_s), duration_limit_text(max_s));
  }
  return seconds;
}

double Percentage::parse(std::string_view name, const Strings& words) const {
  const std::string_view text = single(name, words);
  double number = 0;
  const char* end = text.data() + text.size();
  const auto result = std::from_chars(text.data(), end, number);
  const std::string_view rest(result.ptr, static_cast<std::size_t>(end - result.ptr));
  const bool is_percent = rest == "%" || rest == " %";
  if (result.ec != std::errc{} || (!rest.empty() && !is_percent) || !std::isfinite(number)) {
    refuse("{}: '{}' is not a percentage; write 3% or 0.03", name, shortened(text));
  }
  // Whoever writes 3 means 3 %, and what may be 300 % slower never fails.
  if (!is_percent && number >= 1) {
    refuse("{}: '{}' is not a percentage; write {:g}%", name, shortened(text), number);
  }
  const double value = is_percent ? number / 100 : number;
  if (value < min * (1 - 1e-9) || value > max * (1 + 1e-9)) {
    refuse_range(name, text, fmt::format("{:g}%", 100 * min), fmt::format("{:g}%", 100 * max));
  }
  return value;
}

Strings parse_list(std::string_view name, const Strings& given) {
  Strings items;
  for (const std::string& list : given) {
    for (const std::string_view item : parts_of(list, ',')) {
      if (item.empty()) refuse("{}: an item of '{}' is empty", name, shortened(list));
      if (contains(items, item)) refuse("{}: '{}' is given twice", name, shortened(item));
      items.emplace_back(item);
    }
  }
  return items;
}

const std::string& single(std::string_view name, const Strings& words) {
  if (words.size() > 1) {
    refuse("{} is given {} times ('{}', then '{}'); give it once", name, words.size(),
           shortened(words[0]), shortened(words[1]));
  }
  if (words.front().starts_with("--")) {
    refuse("{} needs a value, and '{}' looks like an option", name, shortened(words.front()));
  }
  return words.front();
}

Strings BenchmarkNames::parse(std::string_view name, const Strings& words) {
  for (const std::string& list : words) {  // duplicates are reported after splitting
    if (contains(parts_of(list, ','), "")) {
      refuse("{}: an item of '{}' is empty", name, shortened(list));
    }
  }
  return words;
}

std::vector<unsigned> Numbers::parse(std::string_view name, const Strings& words) const {
  std::vector<unsigned> numbers;
  for (const std::string& item : parse_list(name, words)) {
    const auto number = static_cast<unsigned>(parse_whole_number(name, item, min, max));
    // "2,02" passes as two different items.
    if (contains(numbers, number)) refuse("{}: {} is given twice", name, number);
    numbers.push_back(number);
  }
  return numbers;
}

std::string Duration::written(double value_s) {
  const bool in_seconds = value_s == 0 || (value_s >= 0.01 && value_s < 60);
  return in_seconds ? fmt::format("{:g}s", value_s) : duration_limit_text(value_s);
}

std::string Text::parse(std::string_view name, const Strings& words) const {
  const std::string& text = single(name, words);
  if (text.empty() && !may_be_empty) refuse("{}: it is empty", name);
  return text;
}

fs::path Path::parse(std::string_view name, const Strings& words) const {
  const std::string& text = single(name, words);
  if (text.empty()) refuse("{}: the file name is empty", name);
  if (text == "-" && !may_be_dash) refuse("{}: '-' is not a file; name one, or /dev/stdout", name);
  return text;
}

fs::path Journal::parse(std::string_view name, const Strings& words) const {
  const fs::path path = Path::parse(name, words);
  std::error_code failed;
  const auto status = fs::status(path, failed);
  const auto refuse_path = [&](const std::string& what) {
    refuse("{}: '{}'{}", name, path.string(), what);
  };
  if (status.type() == fs::file_type::none) refuse_path(": " + failed.message());
  if (!fs::exists(status)) return path;
  if (is_folder && !fs::is_directory(status)) refuse_path(" is a file; name a folder");
  if (!is_folder && fs::is_directory(status)) {
    refuse_path(fmt::format(" is a directory; name a file, as '{}/journal'",
                            path.lexically_normal().string()));
  }
  if (!is_folder && !fs::is_regular_file(status)) {
    refuse_path(" is not a regular file; name one, or a new one");
  }
  return path;
}

CLI::Option* Options::add(const std::string& name, const std::string& label,
                          const std::string& help, std::function<void(const Strings&)> parse) {
  // For the words "{}", CLI11 passes something else to a callback, so the words are read here.
  const auto callback = [app = app_, name, parse = std::move(parse)](const CLI::results_t&) {
    parse(app->get_option(name)->results());
    return true;
  };
  CLI::Option* option = app_->add_option(name, callback, help);
  option->type_name(label)->expected(CLI::detail::expected_max_vector_size);
  if (!option->get_positional()) option->allow_extra_args(false)->group(group_);
  return option;
}

Repeated differing_options(const Declare& declare, const Declare& declare_other) {
  const auto repeated_by = [](const Declare& declare_all) {
    CLI::App app;
    DeclaredOptions declared;
    Options options(app, declared);
    declare_all(options);
    return each_of(options.all(), [&](const CLI::Option* option) {
      return std::pair(option->get_name(), declared[option].repeated);
    });
  };
  const Repeated others = repeated_by(declare_other);
  Repeated differing = repeated_by(declare);
  std::erase_if(differing, [&](const auto& option) { return contains(others, option); });
  return differing;
}

void refuse_given(const Repeated& options, const Invocation& invocation, const std::string& why) {
  for (const auto& [option, repeated] : options) {
    if (invocation.given(option)) refuse("{}: {}", option, why);
  }
}

CLI::Option* declare_format(Options& options, const render::Format*& into, std::string_view note,
                            std::span<const render::Format> formats) {
  into = formats.data();
  return options.value(
      "--format", into, "FORMAT", Choice<render::Format>{"format", formats},
      fmt::format("What is printed: {}{}.", fmt::join(row_names(formats), ", "), note));
}

}  // namespace taskbench::cli
