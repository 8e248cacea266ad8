#include "cli/command_line.hpp"

int main(int argc, char** argv) {
  return static_cast<int>(taskbench::cli::run_command_line(argc, argv));
}
