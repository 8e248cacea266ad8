// Data from books whose results are known.
#pragma once

#include <vector>

namespace taskbench::reports::stats {

/// Darwin's pairs of cross- and self-fertilised plants, Zea mays, in eighths of an inch, as tested
/// by Fisher (The Design of Experiments, 1935, section 17).
inline const std::vector<double> kDarwin = {49, -67, 8,  16, 6,  23, 28, 41,
                                            14, 29,  56, 24, 75, 60, -48};

}  // namespace taskbench::reports::stats
