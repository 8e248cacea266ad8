// Which names an option takes: recorded where the option is declared, read by the completions.
#pragma once

#include <CLI/CLI.hpp>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace taskbench::cli {

struct OptionValues {
  enum class Kind {
    free,        ///< a number, a duration, an expression: nothing to offer
    file,        ///< the name of a file
    one_of,      ///< one of `names`
    list_of,     ///< a comma-separated list of `names`
    assignment,  ///< NAME=VALUE, where `names` are the NAMEs
  };
  Kind kind = Kind::free;
  std::vector<std::string> names;
};

class OptionValueTable {
 public:
  void set(const CLI::Option* option, OptionValues values) {
    values_.insert_or_assign(option, std::move(values));
  }

  [[nodiscard]] OptionValues of(const CLI::Option* option) const {
    const auto found = values_.find(option);
    return found == values_.end() ? OptionValues{} : found->second;
  }

 private:
  std::map<const CLI::Option*, OptionValues> values_;
};

}  // namespace taskbench::cli
