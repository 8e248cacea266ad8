// A temporary folder of a test, with a made-up /proc and /sys, or with programs.
#pragma once

#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <string>

namespace taskbench::harness {

class FakeRoot {
 public:
  FakeRoot() {
    std::string name = (std::filesystem::temp_directory_path() / "taskbench-root-XXXXXX").string();
    path_ = ::mkdtemp(name.data());
  }
  FakeRoot(const FakeRoot&) = delete;
  FakeRoot& operator=(const FakeRoot&) = delete;
  ~FakeRoot() { std::filesystem::remove_all(path_); }

  void write(const std::string& file, const std::string& content) const {
    std::filesystem::create_directories((path_ / file).parent_path());
    std::ofstream(path_ / file) << content;
  }
  /// Makes a program that runs `body`; returns its path.
  std::string script(const std::string& name, const std::string& body) const {
    write(name, "#!/bin/sh\n" + body + "\n");
    std::filesystem::permissions(path_ / name, std::filesystem::perms::owner_all);
    return (path_ / name).string();
  }
  void remove(const std::string& file) const { std::filesystem::remove_all(path_ / file); }

  /// Sets the CPUs that /proc/self/status allows.
  void allow_cpus(const std::string& list) const {
    write("proc/self/status",
          "Name:\ttaskbench\nCapEff:\t0000000000000000\nCpus_allowed:\tf\n"
          "Cpus_allowed_list:\t" +
              list + "\n");
  }

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace taskbench::harness
