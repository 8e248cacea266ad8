#include "harness/machine/environment.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <string>

#include "harness/machine/build_info.hpp"

namespace taskbench::harness {
namespace {

using reports::model::Environment;

TEST(environment, date_is_rfc_3339_with_offset) {
  const Environment environment = probe_environment("taskbench");
  std::string shape = environment.date;
  for (char& c : shape) {
    if (c >= '0' && c <= '9') c = '9';
    if (c == '+') c = '-';
  }
  EXPECT_EQ(shape, "9999-99-99T99:99:99-99:99") << environment.date;
}

TEST(environment, names_the_machine) {
  const Environment environment = probe_environment("bin/taskbench");
  EXPECT_EQ(environment.executable, "bin/taskbench");
  EXPECT_FALSE(environment.host_name.empty());
  EXPECT_FALSE(environment.kernel.empty());
  EXPECT_EQ(environment.kernel.rfind("Linux ", 0), 0U) << environment.kernel;
  EXPECT_GT(environment.cpu_count, 0);
  EXPECT_GE(environment.cpu_mhz, 0);
  EXPECT_GT(environment.memory_bytes, 0);
  EXPECT_EQ(environment.load_avg.size(), 3U);
#if defined(__x86_64__)
  EXPECT_FALSE(environment.cpu_model.empty());
  EXPECT_FALSE(environment.hypervisor.empty());
#endif
}

TEST(environment, names_the_build) {
  const Environment environment = probe_environment("taskbench");
  EXPECT_EQ(environment.compiler, kCompiler);
  EXPECT_EQ(environment.compiler_flags, kCompilerFlags);
  EXPECT_EQ(environment.build_type, kBuildType);
  EXPECT_EQ(environment.git_commit, kGitCommit);
  EXPECT_EQ(environment.taskbench_version, kVersion);
  EXPECT_FALSE(environment.compiler.empty());
  EXPECT_FALSE(environment.taskbench_version.empty());
}

TEST(environment, tells_how_google_benchmark_was_built) {
  const Environment environment = probe_environment("taskbench");
  EXPECT_TRUE(environment.benchmark_library_build_type == "release" ||
              environment.benchmark_library_build_type == "debug")
      << environment.benchmark_library_build_type;
}

TEST(environment, caches_have_a_size) {
  for (const auto& cache : probe_environment("taskbench").caches) {
    EXPECT_GT(cache.size_bytes, 0);
    EXPECT_GE(cache.level, 1);
    EXPECT_FALSE(cache.type.empty());
  }
}

TEST(environment, nothing_is_padded_with_blanks) {
  const Environment environment = probe_environment("taskbench");
  EXPECT_FALSE(environment.cpu_model.empty());
  for (const std::string& text : {environment.cpu_model, environment.cpu_microcode,
                                  environment.cpu_governor, environment.hypervisor}) {
    if (text.empty()) continue;
    EXPECT_NE(text.front(), ' ') << '"' << text << '"';
    EXPECT_NE(text.back(), ' ') << '"' << text << '"';
    EXPECT_EQ(text.find('\n'), std::string::npos) << '"' << text << '"';
  }
}

}  // namespace
}  // namespace taskbench::harness
