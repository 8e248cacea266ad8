#include "cli/options/completion.hpp"

#include "cli/options/help_format.hpp"

namespace taskbench::cli {
namespace {

bool takes_value(const CLI::Option* option) {
  return option != nullptr && option->get_items_expected_max() != 0;
}

/// The first sentence or line of a description, without its full stop.
std::string summary_of(const std::string& description) {
  std::string text = description.substr(0, description.find('\n'));
  text = text.substr(0, text.find(". "));
  if (text.ends_with('.')) text.pop_back();
  return text;
}

class Candidates {
 public:
  /// Collects the candidates that begin with `begun`.
  explicit Candidates(std::string begun) : begun_(std::move(begun)) {}

  void add(const std::string& word, const std::string& summary = {}) {
    if (!word.starts_with(begun_)) return;
    text_ += word + (summary.empty() ? "" : '\t' + summary) + '\n';
  }

  /// Adds the values of an option; `before` is the part of the word that precedes the value.
  void add_values(const OptionValues& values, std::string before) {
    using Kind = OptionValues::Kind;
    if (values.kind == Kind::file) text_ = ":files\n";
    const auto comma = begun_.rfind(',');
    if (values.kind == Kind::list_of && comma != std::string::npos) {
      before = begun_.substr(0, comma + 1);
    }
    const std::string after = values.kind == Kind::assignment ? "=" : "";
    for (const std::string& name : values.names) add(before + name + after);
  }

  [[nodiscard]] std::string text() && { return std::move(text_); }

 private:
  std::string begun_;
  std::string text_;
};

/// The command, or the option without its value, that the preceding words lead to.
struct Place {
  const CLI::App* app;
  const CLI::Option* awaits_value = nullptr;  ///< the option whose value is next
};

Place place_after(const CLI::App& root, std::span<const std::string> words) {
  Place place{&root};
  for (const std::string& word : words) {
    if (word == "=" && place.awaits_value != nullptr) continue;
    if (place.awaits_value != nullptr) {
      place.awaits_value = nullptr;
    } else if (word.starts_with('-')) {
      const CLI::Option* option = place.app->get_option_no_throw(word);
      if (takes_value(option)) place.awaits_value = option;
    } else {
      for (const CLI::App* command : commands_of(*place.app)) {
        if (command->get_name() == word) place.app = command;
      }
    }
  }
  return place;
}

}  // namespace

std::string candidates(const CLI::App& root, const DeclaredOptions& options,
                       std::span<const std::string> words) {
  if (words.empty()) return {};
  const Place place = place_after(root, words.first(words.size() - 1));
  const std::string& last = words.back();
  if (place.awaits_value != nullptr) {
    Candidates found(last == "=" ? std::string() : last);
    found.add_values(options.at(place.awaits_value).offered, "");
    return std::move(found).text();
  }
  Candidates found(last);
  if (const auto equals = last.find('='); last.starts_with("--") && equals != std::string::npos) {
    const CLI::Option* option = place.app->get_option_no_throw(last.substr(0, equals));
    if (takes_value(option))
      found.add_values(options.at(option).offered, last.substr(0, equals + 1));
    return std::move(found).text();
  }
  for (const CLI::Option* option : place.app->get_options()) {
    if (option->get_positional()) {
      if (!last.starts_with('-')) found.add_values(options.at(option).offered, "");
    } else if (last.starts_with('-')) {
      const std::string summary = summary_of(option->get_description());
      for (const auto& name : option->get_snames()) found.add("-" + name, summary);
      for (const auto& name : option->get_lnames()) found.add("--" + name, summary);
    }
  }
  for (const CLI::App* command : commands_of(*place.app)) {
    found.add(command->get_name(), summary_of(command->get_description()));
  }
  return std::move(found).text();
}

}  // namespace taskbench::cli
