// A profile as text for other tools, and as a drawing.
#pragma once

#include <string>
#include <string_view>

#include "reports/model/profile.hpp"

namespace taskbench::reports::render {

/// A line for each stack: frames separated by semicolons, the outermost first, then the samples.
/// flamegraph.pl and speedscope read this.
[[nodiscard]] std::string folded(const model::Profile& profile);

/// An SVG in which the width of a frame is its share of the samples, and callers are below callees.
/// Hovering over a frame shows its full name and its share; a browser can zoom in and search. The
/// file is self-contained. Equal profiles give equal bytes.
[[nodiscard]] std::string flame_graph(const model::Profile& profile, std::string_view title);

/// A symbol without the parts that make C++ names long: template arguments and our own namespace.
[[nodiscard]] std::string short_symbol(std::string_view name);

}  // namespace taskbench::reports::render
