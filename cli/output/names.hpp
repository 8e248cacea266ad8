// Names that every file of cli/ needs: those of the harness, and the parts of commands.
#pragma once

#include "harness/files/names.hpp"

namespace taskbench::reports::render {}

namespace taskbench::cli {

// Commands are sentences about trials, in the same words.
using namespace harness;

namespace render = reports::render;

}  // namespace taskbench::cli
