// A profile as text for other tools, and as a picture.
#pragma once

#include <string>
#include <string_view>

#include "reports/model/profile.hpp"

namespace taskbench::reports::render {

/// One line a stack, frames separated by semicolons, the outermost first, then the samples: what
/// flamegraph.pl and speedscope read.
[[nodiscard]] std::string folded(const model::Profile& profile);

/// An SVG: the width of a frame is its share of the samples, callers are below callees, and resting
/// the pointer on a frame shows its whole name and its share. A browser can zoom in and search in
/// it; it needs nothing outside of the file. Equal profiles give equal bytes.
[[nodiscard]] std::string flame_graph(const model::Profile& profile, std::string_view title);

/// A symbol without what makes C++ names long: template arguments and our own namespace.
[[nodiscard]] std::string short_symbol(std::string_view name);

}  // namespace taskbench::reports::render
