#include "cli/options/options.hpp"

#include <algorithm>
#include <system_error>

namespace taskbench::cli {

const std::string& single(std::string_view name, const Strings& words) {
  if (words.size() > 1) {
    throw UsageError(fmt::format("{} is given {} times ('{}', then '{}'); give it once", name,
                                 words.size(), shortened(words[0]), shortened(words[1])));
  }
  if (words.front().starts_with("--")) {
    throw UsageError(fmt::format("{} needs a value, and '{}' looks like an option", name,
                                 shortened(words.front())));
  }
  return words.front();
}

std::vector<unsigned> Numbers::parse(std::string_view name, const Strings& words) const {
  std::vector<unsigned> numbers;
  for (const std::string& item : parse_list(name, words)) {
    const auto number = static_cast<unsigned>(parse_whole_number(name, item, min, max));
    if (std::ranges::find(numbers, number) != numbers.end()) {  // "2,02" passes as two items
      throw UsageError(fmt::format("{}: {} is given twice", name, number));
    }
    numbers.push_back(number);
  }
  return numbers;
}

std::string Duration::written(double value_s) {
  return value_s < 60 ? fmt::format("{:g}s", value_s) : duration_limit_text(value_s);
}

std::string Text::parse(std::string_view name, const Strings& words) const {
  const std::string& text = single(name, words);
  if (text.empty() && !may_be_empty) throw UsageError(fmt::format("{}: it is empty", name));
  return text;
}

fs::path Path::parse(std::string_view name, const Strings& words) const {
  const std::string& text = single(name, words);
  if (text.empty()) throw UsageError(fmt::format("{}: the file name is empty", name));
  if (text == "-" && !may_be_dash) {
    throw UsageError(fmt::format("{}: '-' is not a file; name one, or /dev/stdout", name));
  }
  return text;
}

fs::path Journal::parse(std::string_view name, const Strings& words) const {
  const fs::path path = Path::parse(name, words);
  std::error_code failed;
  const auto status = fs::status(path, failed);
  const auto refuse = [&](std::string_view what) {
    throw UsageError(fmt::format("{}: '{}'{}", name, path.string(), what));
  };
  if (status.type() == fs::file_type::none) refuse(": " + failed.message());
  if (!fs::exists(status)) return path;
  if (is_folder && !fs::is_directory(status)) refuse(" is a file; name a folder");
  if (!is_folder && fs::is_directory(status)) {
    refuse(fmt::format(" is a directory; name a file, as '{}/journal'",
                       path.lexically_normal().string()));
  }
  if (!is_folder && !fs::is_regular_file(status)) {
    refuse(" is not a regular file; name one, or a new one");
  }
  return path;
}

CLI::Option* Options::add(const std::string& name, const std::string& label,
                          const std::string& help, OptionValues offered,
                          std::function<void(const Strings&)> parse) {
  // Not the words that the callback is called with: of "{}" it is told something else.
  const auto callback = [app = app_, name, parse = std::move(parse)](const CLI::results_t&) {
    parse(app->get_option(name)->results());
    return true;
  };
  CLI::Option* option = app_->add_option(name, callback, help);
  option->type_name(label)->expected(CLI::detail::expected_max_vector_size);
  if (!option->get_positional()) option->allow_extra_args(false)->group(group_);
  offered_->emplace(option, std::move(offered));
  return option;
}

}  // namespace taskbench::cli
