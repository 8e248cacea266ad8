// What every file of cli/ needs: the words of the harness, and the parts that commands are made of.
#pragma once

#include "harness/trials/names.hpp"

namespace taskbench::reports::render {}

namespace taskbench::cli {

// Commands are sentences about trials, in the same words.
using namespace harness;

namespace render = reports::render;

}  // namespace taskbench::cli
