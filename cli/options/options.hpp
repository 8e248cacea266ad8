// An option of a command: declared, parsed, checked and completed in one statement.
//
//   options.value("--seed", seed_, "N", Number{0, kMaxSeed}, "Seed of all random choices.");
//
// puts the given value into seed_, throws UsageError for anything but a number in that range, and
// shows the current value of seed_ as the default in --help. A kind, such as Number, has
//   parse(name, words)  the value for the given words, in the order of the command line
//   written(value)      a default as --help shows it; without this function, nothing
//   words(value)        the words that repeat the value; without this function, written(value)
//   offered()           the candidates for completion; without this function, nothing
// If an option excludes or needs another, call excludes() and needs() of the CLI::Option that
// value() returns.
#pragma once

#include <concepts>
#include <cstdint>
#include <limits>
#include <map>
#include <type_traits>

#include <CLI/CLI.hpp>

#include "cli/output/names.hpp"
#include "harness/files/near_miss.hpp"
#include "harness/programs/program.hpp"
#include "reports/render/formats.hpp"

namespace taskbench::cli {

// Parsers from the text of an option to its value. All throw UsageError.

/// "10" → 10, if it is in [min, max]. `name` is the option or parameter, for the message.
[[nodiscard]] std::uint64_t parse_whole_number(std::string_view name, std::string_view text,
                                               std::uint64_t min, std::uint64_t max);

/// A duration in the most readable unit: "100us", "10s", "1h".
[[nodiscard]] std::string duration_limit_text(double seconds);

/// The items of a comma-separated list that was given once or several times. An empty item and a
/// duplicate are errors: two measurements would have the same name.
[[nodiscard]] Strings parse_list(std::string_view name, const Strings& given);

/// The values that shells complete for an option.
struct OptionValues {
  enum class Kind {
    free,        ///< a number, a duration, an expression: no candidates
    file,        ///< the name of a file
    one_of,      ///< one of `names`
    list_of,     ///< a comma-separated list of `names`
    assignment,  ///< NAME=VALUE, where `names` are the NAMEs
  };
  Kind kind = Kind::free;
  Strings names;
};

/// Facts about an option that CLI11 does not record.
struct DeclaredOption {
  OptionValues offered{};
  std::string repeated{};  ///< repeats the value at its declaration: " --seed 1"; may be empty
};
using DeclaredOptions = std::map<const CLI::Option*, DeclaredOption>;

inline constexpr std::uint64_t kMaxSeed = std::numeric_limits<std::uint64_t>::max();

/// The only value that was given. Throws UsageError for several, and for one that looks like an
/// option: the parser takes any word after an option that needs a value, as in "--json --quiet".
[[nodiscard]] const std::string& single(std::string_view name, const Strings& words);

/// "10"
struct Number {
  std::uint64_t min;
  std::uint64_t max;
  [[nodiscard]] std::uint64_t parse(std::string_view name, const Strings& words) const {
    return parse_whole_number(name, single(name, words), min, max);
  }
  [[nodiscard]] static std::string written(std::integral auto value) {
    return std::to_string(value);
  }
};

/// "1,2,4", without duplicates.
struct Numbers {
  unsigned min;
  unsigned max;
  [[nodiscard]] std::vector<unsigned> parse(std::string_view name, const Strings& words) const;
};

/// "0.1", "500ms", "10s", "2m", in seconds. Units: us, ms, s, m, h.
struct Duration {
  double min_s;
  double max_s;
  [[nodiscard]] double parse(std::string_view name, const Strings& words) const;
  [[nodiscard]] static std::string written(double value_s);
};

/// "3%" or "0.03"
struct Percentage {
  double min;
  double max;
  [[nodiscard]] double parse(std::string_view name, const Strings& words) const;
  [[nodiscard]] static std::string written(double value) {
    return fmt::format("{:g}%", 100 * value);
  }
};

struct Text {
  bool may_be_empty = false;
  [[nodiscard]] std::string parse(std::string_view name, const Strings& words) const;
  [[nodiscard]] static std::string written(const std::string& value) { return value; }
};

/// The path of a file or folder.
struct Path {
  bool may_be_dash = true;  ///< a folder may be called "-"; a file hardly ever is
  [[nodiscard]] fs::path parse(std::string_view name, const Strings& words) const;
  [[nodiscard]] static std::string written(const fs::path& value) { return value.string(); }
  [[nodiscard]] static OptionValues offered() { return {OptionValues::Kind::file, {}}; }
};

/// The path of a journal: a file, or a folder if `is_folder`. An existing path must be of that
/// kind; whether it is a journal turns out when it is read.
struct Journal : Path {
  bool is_folder = false;
  [[nodiscard]] fs::path parse(std::string_view name, const Strings& words) const;
};

/// Names as given: only the list of benchmarks shows which commas separate them.
struct BenchmarkNames {
  [[nodiscard]] static Strings parse(std::string_view name, const Strings& words);
  [[nodiscard]] static const Strings& words(const Strings& value) { return value; }
};

/// Words as given, for values whose meaning depends on other options.
struct AsGiven {
  OptionValues offers;
  [[nodiscard]] static Strings parse(std::string_view, const Strings& words) { return words; }
  [[nodiscard]] OptionValues offered() const { return offers; }
};

/// A value computed by a function from the option's name and words.
template <class Function>
struct By {
  Function function;
  OptionValues offers{};
  [[nodiscard]] auto parse(std::string_view name, const Strings& words) const {
    return function(name, words);
  }
  [[nodiscard]] OptionValues offered() const { return offers; }
};
template <class Function>
By(Function) -> By<Function>;
template <class Function>
By(Function, OptionValues) -> By<Function>;

/// The `name` of every row of a table, in its order.
template <class Table>
[[nodiscard]] Strings row_names(const Table& table) {
  return each_of(table, [](const auto& row) { return std::string(row.name); });
}

/// The row called `text`. Throws UsageError, with the nearest name; `option` may be empty.
template <class Row>
[[nodiscard]] const Row* find_row(std::string_view option, std::string_view noun,
                                  std::span<const Row> rows, std::string_view text) {
  for (const Row& row : rows) {
    if (row.name == text) return &row;
  }
  const std::string prefix = option.starts_with('-') ? std::string(option) + ": " : "";
  throw UsageError(prefix + unknown_name(noun, text, row_names(rows)));
}

/// One row of a table, by its `name`.
template <class Row>
struct Choice {
  std::string_view noun;  ///< the noun for the rows: "format"
  std::span<const Row> rows;
  [[nodiscard]] const Row* parse(std::string_view name, const Strings& words) const {
    return find_row(name, noun, rows, single(name, words));
  }
  [[nodiscard]] static std::string written(const Row* value) {
    return value == nullptr ? std::string() : std::string(value->name);
  }
  [[nodiscard]] OptionValues offered() const {
    return {OptionValues::Kind::one_of, row_names(rows)};
  }
};

/// A value of an option, by its name.
template <class Value>
struct Named {
  std::string_view name;
  Value value;
};
template <class Value>
struct OneOf {
  std::string_view noun;
  std::span<const Named<Value>> rows;
  [[nodiscard]] Value parse(std::string_view name, const Strings& words) const {
    return find_row(name, noun, rows, single(name, words))->value;
  }
  [[nodiscard]] std::string written(const Value& value) const {
    return std::string(model::element_of(rows, value, &Named<Value>::value)->name);
  }
  [[nodiscard]] OptionValues offered() const {
    return {OptionValues::Kind::one_of, row_names(rows)};
  }
};

/// Rows of a table, by a comma-separated list of their names.
template <class Row>
struct Choices {
  std::string_view noun;
  std::span<const Row> rows;
  OptionValues::Kind offers = OptionValues::Kind::list_of;
  [[nodiscard]] std::vector<const Row*> parse(std::string_view name, const Strings& words) const {
    return each_of(parse_list(name, words),
                   [&](const std::string& item) { return find_row(name, noun, rows, item); });
  }
  [[nodiscard]] static std::string written(const std::vector<const Row*>& value) {
    return joined(each_of(value, [](const Row* row) { return row->name; }), ",");
  }
  [[nodiscard]] OptionValues offered() const { return {offers, row_names(rows)}; }
};

/// The command line after parsing.
struct Invocation {
  Strings command_line;  ///< argv
  const CLI::App& root;  ///< all commands and options
  const CLI::App& app;   ///< the command being executed
  [[nodiscard]] bool given(const std::string& option) const { return app.count(option) > 0; }
};

/// Declares the options of one command.
class Options {
 public:
  Options(CLI::App& app, DeclaredOptions& declared) : app_(&app), declared_(&declared) {}

  /// Sets the text of --help before the options, beginning with the summary line, and after them.
  void describe(const std::string& description, const std::string& footer) {
    app_->description(description)->footer(footer);
  }

  /// An option that has already been declared.
  [[nodiscard]] CLI::Option* operator[](const std::string& name) { return app_->get_option(name); }

  /// Sets the heading in --help for the options declared from now on, and whether a command that
  /// repeats the measurement elsewhere must include them.
  void group(std::string name, bool is_repeated = true) {
    group_ = std::move(name);
    is_repeated_ = is_repeated;
  }

  /// All options declared so far.
  [[nodiscard]] std::vector<CLI::Option*> all() { return app_->get_options(); }

  CLI::Option* flag(const std::string& name, bool& into, const std::string& help) {
    CLI::Option* option = app_->add_flag(name, into, help)->group(group_);
    if (into && is_repeated_) (*declared_)[option].repeated = ' ' + name;
    return option;
  }

  /// Declares an option with a value. `name` begins with dashes, or names a positional argument.
  template <class T, class Kind>
  CLI::Option* value(const std::string& name, T& into, const std::string& label, const Kind& kind,
                     const std::string& help) {
    CLI::Option* option = add(name, label, help, [&into, kind, name](const Strings& words) {
      using Value = std::decay_t<decltype(kind.parse(name, words))>;
      if constexpr (std::is_arithmetic_v<Value> && std::is_arithmetic_v<T>) {
        into = static_cast<T>(kind.parse(name, words));
      } else {
        into = kind.parse(name, words);
      }
    });
    DeclaredOption& declared = (*declared_)[option];
    if constexpr (requires { kind.offered(); }) declared.offered = kind.offered();
    for (const std::string& word : is_repeated_ ? words_for(kind, into) : Strings{}) {
      declared.repeated += fmt::format(" {} {}", name, shell_word(word));
    }
    if constexpr (requires { kind.written(into); }) {
      option->default_str(kind.written(into));
    } else if constexpr (requires { kind.written(*into); }) {
      if (into) option->default_str(kind.written(*into));
    }
    return option;
  }

 private:
  CLI::Option* add(const std::string& name, const std::string& label, const std::string& help,
                   std::function<void(const Strings&)> parse);

  template <class Kind, class T>
  static Strings words_for(const Kind& kind, const T& value) {
    std::string word;
    if constexpr (requires { kind.words(value); }) {
      return kind.words(value);
    } else if constexpr (requires { kind.written(value); }) {
      word = kind.written(value);
    } else if constexpr (std::is_convertible_v<T, std::string>) {
      word = value;
    } else if constexpr (std::is_same_v<T, Strings>) {
      word = joined(value, ",");
    }
    return word.empty() ? Strings{} : Strings{word};
  }

  CLI::App* app_;
  DeclaredOptions* declared_;
  std::string group_ = "Options";
  bool is_repeated_ = true;
};

/// Options by name, with the words that repeat each on a command line.
using Repeated = std::vector<std::pair<std::string, std::string>>;

/// The options that `declare` and `declare_other` give different values.
using Declare = std::function<void(Options&)>;
[[nodiscard]] Repeated differing_options(const Declare& declare, const Declare& declare_other);

/// Throws UsageError for the first of these options that was given: "--seed: WHY".
void refuse_given(const Repeated& options, const Invocation& invocation, const std::string& why);

/// Declares --format, whose value is one of `formats`; `note` ends its help.
CLI::Option* declare_format(Options& options, const render::Format*& into,
                            std::string_view note = "",
                            std::span<const render::Format> formats = render::formats());

}  // namespace taskbench::cli
