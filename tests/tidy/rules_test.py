#!/usr/bin/env python3
"""Each rule must find what it is meant to find, and must leave good code alone."""

import tempfile
import unittest
from pathlib import Path

import floors
import guarded
import memory_order
import sources_listed
import style
from source import Source, project_files


def messages(check, path, text):
    return [str(finding) for finding in check(Source(path, text))]


class SplittingCodeFromComments(unittest.TestCase):
    def test_comments_and_literals_are_not_code(self):
        source = Source("a.cpp", 'f("// no"); // yes\nint n = 1\'000; /* two\nlines */ g(\'"\');\n')
        self.assertEqual(source.code.split("\n")[0].rstrip(), "f(       );")
        self.assertIn("n = 1'000;", source.code)
        self.assertIn("// yes", source.comments)
        self.assertNotIn("no", source.comments)
        self.assertIn("g(", source.code_lines[2])
        self.assertEqual(len(source.code), len(source.text))

    def test_raw_strings_are_not_code(self):
        source = Source("a.cpp", 'auto s = R"x(" // )" )x"; done();\n')
        self.assertIn("done();", source.code)
        self.assertEqual(source.comments.strip(), "")

    def test_includes_in_comments_do_not_count(self):
        text = '#include "a/b.hpp"\n// #include "c/d.hpp"\n/*\n#include <x>\n*/\n'
        source = Source("a.cpp", text)
        self.assertEqual(list(source.includes()), [(1, '"', "a/b.hpp")])


class Floors(unittest.TestCase):
    def refused(self, path, include):
        found = messages(floors.check, path, f"#pragma once\n#include {include}\n")
        self.assertEqual(len(found), 1, f"{path} including {include} gave {found}")
        self.assertTrue(found[0].startswith(f"{path}:2: "))

    def allowed(self, path, include):
        self.assertEqual(messages(floors.check, path, f"#include {include}\n"), [])

    def test_parts_include_downward_only(self):
        self.refused("runtime/task/task.cpp", '"reports/model/run.hpp"')
        self.refused("runtime/task/task.cpp", '"workloads/base/workload.hpp"')
        self.refused("reports/json/writer.cpp", '"runtime/runtime.hpp"')
        self.refused("reports/json/writer.cpp", '"workloads/base/workload.hpp"')
        self.refused("workloads/ping_pong.cpp", '"cli/output/exit_code.hpp"')
        self.refused("workloads/ping_pong.cpp", '"reports/model/run.hpp"')
        self.refused("workloads/net/http_server.cpp", '"harness/os/process.hpp"')
        self.refused("workloads/base/workload.hpp", '"workloads/net/wrk.hpp"')
        self.refused("harness/bench/measure.cpp", '"reports/json/writer.hpp"')
        self.refused("harness/bench/measure.cpp", '"harness/programs/program.hpp"')
        self.refused("harness/os/process.cpp", '"harness/machine/drift.hpp"')
        self.refused("harness/programs/program.cpp", '"cli/output/output.hpp"')
        self.refused("harness/programs/program.cpp", '"reports/render/table.hpp"')
        self.refused("cli/options/options.cpp", '"cli/commands/command.hpp"')
        self.refused("reports/json/reader.cpp", '"harness/os/file_content.hpp"')
        self.refused("reports/stats/walsh.cpp", '"reports/verdict/paired.hpp"')
        self.allowed("harness/bench/measure.hpp", '"reports/model/run.hpp"')
        self.allowed("harness/machine/drift.hpp", '"reports/model/run.hpp"')
        self.allowed("harness/bench/measure.cpp", '"workloads/base/workload.hpp"')
        self.allowed("harness/programs/program.cpp", '"reports/json/baseline.hpp"')
        self.allowed("cli/commands/run.cpp", '"reports/json/writer.hpp"')
        self.allowed("cli/commands/run.cpp", '"workloads/base/workload.hpp"')
        self.allowed("cli/commands/run.cpp", '"cli/output/exit_code.hpp"')

    def test_no_folder_names_one_that_comes_later(self):
        earlier = set()
        for folder in floors.FLOORS:
            later = {f for f in floors.allowed_below(folder) - earlier if f != folder}
            self.assertEqual(later, set(), folder)
            earlier.add(folder)

    def test_a_circle_of_headers_or_of_folders_is_found(self):
        def found(**includes):
            sources = [Source(path.replace("__", "/") + ".hpp",
                              "".join(f'#include "{other}.hpp"\n' for other in others))
                       for path, others in includes.items()]
            return [str(finding) for finding in floors.check_circles(sources)]

        for a, b in (("cli/options", "cli/output"), ("harness/os", "harness/trials"),
                     ("reports/json", "reports/model")):
            circle = {f"{a}/a".replace("/", "__"): [f"{b}/b"],
                      f"{b}/c".replace("/", "__"): [f"{a}/d"]}
            self.assertEqual(found(**circle),
                             [f"{b}/c.hpp:1: closes a circle: {a} -> {b} -> {a}"])
        self.assertEqual(found(harness__os__a=["harness/os/b"], harness__os__b=["harness/os/a"]),
                         ["harness/os/b.hpp:1: closes a circle: harness/os/a.hpp -> "
                          "harness/os/b.hpp -> harness/os/a.hpp"])
        self.assertEqual(found(cli__a=["cli/output/b"], cli__output__b=["harness/os/c"]), [])

    def test_only_the_public_headers_of_runtime_are_used_outside(self):
        self.refused("workloads/ping_pong.cpp", '"runtime/queue/local_queue.hpp"')
        self.refused("workloads/ping_pong.cpp", '"runtime/base/sync_primitives.hpp"')
        self.refused("cli/main.cpp", '"runtime/scheduler/work_stealing/worker.hpp"')
        self.allowed("workloads/ping_pong.cpp", '"runtime/runtime.hpp"')
        self.allowed("workloads/ping_pong.cpp", '"runtime/sync/oneshot.hpp"')
        self.allowed("workloads/ping_pong.cpp", '"runtime/base/cache_line.hpp"')
        self.allowed("cli/commands/run.cpp", '"runtime/runtime.hpp"')

    def test_floors_inside_runtime(self):
        self.refused("runtime/base/cell.hpp", '"runtime/trace/counters.hpp"')
        self.refused("runtime/trace/counters.hpp", '"runtime/queue/local_queue.hpp"')
        self.refused("runtime/queue/local_queue.hpp", '"runtime/task/header.hpp"')
        self.refused("runtime/task/state.hpp", '"runtime/sync/oneshot.hpp"')
        self.refused("runtime/sync/oneshot.hpp", '"runtime/driver/wheel.hpp"')
        self.refused("runtime/sync/oneshot.hpp", '"runtime/scheduler/context.hpp"')
        self.refused("runtime/park/parker.hpp", '"runtime/scheduler/context.hpp"')
        self.refused("runtime/scheduler/context.hpp", '"runtime/runtime.hpp"')
        self.refused("runtime/strange/thing.hpp", '"runtime/base/cell.hpp"')
        self.allowed("runtime/queue/local_queue.hpp", '"runtime/base/cell.hpp"')
        self.allowed("runtime/sync/oneshot.hpp", '"runtime/task/waker.hpp"')
        self.allowed("runtime/driver/driver.hpp", '"runtime/park/parker.hpp"')
        self.allowed("runtime/scheduler/work_stealing/worker.cpp", '"runtime/park/parker.hpp"')
        self.allowed("runtime/runtime.hpp", '"runtime/scheduler/work_stealing/handle.hpp"')

    def test_only_one_file_includes_the_standard_primitives(self):
        for header in ("atomic", "mutex", "condition_variable", "thread", "semaphore"):
            self.refused("runtime/queue/injector.hpp", f"<{header}>")
        self.allowed("runtime/base/sync_primitives.hpp", "<atomic>")
        self.allowed("runtime/queue/injector.hpp", "<cstdint>")
        self.allowed("harness/bench/measure.cpp", "<atomic>")

    def test_only_base_reads_clocks_and_has_variables_of_a_thread(self):
        def found(path, text):
            return len(messages(floors.check, path, text))

        for text in (
            "thread_local int depth;",
            "const auto now = std::chrono::steady_clock::now();",
            "const auto ticks = __rdtsc();",
        ):
            self.assertEqual(found("runtime/task/task.cpp", text), 1, text)
            self.assertEqual(found("runtime/base/sync_primitives.hpp", text), 0)
            self.assertEqual(found("runtime/base/sync_primitives.cpp", text), 0)
            self.assertEqual(found("harness/os/process.cpp", text), 0)
        self.assertEqual(found("runtime/task/task.cpp", "// of std::chrono::steady_clock"), 0)
        self.assertEqual(found("runtime/task/task.cpp", "const auto now = base::Clock::now();"), 0)

    def test_nothing_in_the_runtime_reads_the_wall_clock(self):
        for text in (
            "const auto now = std::chrono::system_clock::now();",
            "gettimeofday(&now, nullptr);",
            "std::time(nullptr);",
            "futex(word, FUTEX_WAIT_BITSET | FUTEX_CLOCK_REALTIME);",
        ):
            for path in ("runtime/base/sync_primitives.cpp", "runtime/time/sleep.cpp"):
                self.assertEqual(len(messages(floors.check, path, text)), 1, text)
            self.assertEqual(messages(floors.check, "workloads/net/http_session.cpp", text), [])

    def test_includes_are_written_from_the_root(self):
        self.refused("runtime/queue/injector.cpp", '"injector.hpp"')
        self.refused("runtime/queue/injector.cpp", '"../queue/injector.hpp"')
        self.refused("runtime/queue/injector.cpp", '"runtime/base/../queue/injector.hpp"')
        self.refused("workloads/ping_pong.cpp", "<runtime/runtime.hpp>")


class MemoryOrder(unittest.TestCase):
    def found(self, body, path="runtime/queue/x.hpp"):
        return messages(memory_order.check, path, body)

    def refused(self, body, count=1):
        found = self.found(body)
        self.assertEqual(len(found), count, f"{body!r} gave {found}")

    def allowed(self, body):
        self.assertEqual(self.found(body), [])

    def test_the_order_must_be_named(self):
        self.refused("void f() { n.load(); }\n")
        self.refused("void f() { n.store(1); }\n")
        self.refused("void f() { n->fetch_add(1); }\n")
        self.refused("bool f() { return n.compare_exchange_weak(a, b); }\n")
        self.refused("void f() { n\n  .exchange(g(1,\n 2)); }\n")

    def test_each_order_needs_its_comment(self):
        self.refused("void f() { n.store(1, release); }\n")
        self.refused("void f() { n.load(std::memory_order_acquire); }\n")
        self.refused("void f() { n.load(std::memory_order::relaxed); }\n")
        self.refused("void f() { n.load(base::seq_cst); }\n")
        for fence in ("full_fence", "light_fence", "heavy_fence"):
            self.refused(f"void f() {{ base::{fence}(); }}\n")
        self.refused("void f() { std::atomic_thread_fence(release); }\n")

    def test_a_seq_cst_access_is_refused_where_the_tester_is_not_known_to_be_right_about_it(self):
        access = "void f() {\n  // seq_cst: the story\n  n.load(seq_cst);\n}\n"
        (found,) = self.found(access)
        self.assertIn("only fences", found)
        self.assertEqual(self.found(access, path="runtime/queue/inbox.hpp"), [])

    def test_a_comment_of_another_order_does_not_do(self):
        self.refused("void f() {\n  n.load(acquire);  // relaxed: nobody cares\n}\n")
        self.refused("void f() {\n  n.load(seq_cst);  // pairs with the store in g()\n}\n")
        self.refused("void f() {\n  n.store(1, release);  // release the lock\n}\n")

    def test_comment_on_the_line_or_above(self):
        self.allowed("void f() {\n  n.store(1, release);  // release: pairs with g()\n}\n")
        self.allowed("void f() {\n  // release: pairs\n  // with g()\n  n.store(1, release);\n}\n")
        self.allowed("void f() {\n  // seq_cst: the story\n  full_fence();\n}\n")
        self.allowed(
            "void f() {\n  // acq_rel: pairs with g()\n"
            "  while (!n.compare_exchange_weak(a,\n    b, acq_rel, relaxed)) {\n  }\n}\n"
        )

    def test_one_comment_may_speak_for_neighbours(self):
        two = "  a.load(relaxed);\n  b.load(relaxed);\n"
        self.allowed(f"void f() {{\n  // relaxed: a guess\n{two}}}\n")

    def test_a_comment_far_away_or_in_another_function_does_not_do(self):
        far = "  g();\n" * (memory_order.WINDOW + 1)
        self.refused(f"void f() {{\n  // acquire: pairs with g()\n{far}  n.load(acquire);\n}}\n")
        self.refused(
            "void f() {\n  n.store(1, release);  // release: pairs with g()\n}\n"
            "void g() {\n  n.load(acquire);\n}\n"
        )

    def test_relaxed_may_rely_on_the_comment_of_its_function(self):
        far = "  g();\n" * 20
        self.allowed(
            "class A {\n  // relaxed: only the owner writes\n  int f() const {\n    if (x) {\n"
            f"{far}      return n.load(relaxed);\n    }}\n  }}\n}};\n"
        )
        self.refused(
            "// relaxed: said of the class\nclass A {\n  int f() const {\n"
            f"{far}    return n.load(relaxed);\n  }}\n}};\n"
        )

    def test_operator_forms(self):
        declaration = "struct A {\n  Atomic<std::uint64_t> n_{0};\n"
        for use in ("n_ = 1;", "++n_;", "n_++;", "n_ += 2;", "return n_;", "if (n_ == 3) g();"):
            self.refused(f"{declaration}  int f() {{ {use} }}\n}};\n")
        self.allowed(declaration + "  Atomic<int>* f() { return &n_; }\n  A() : n_(0) {}\n};\n")
        self.refused("struct B {\n  std::atomic<int> n = 0;\n};\nvoid f(B* b) { b->n = 1; }\n")
        self.allowed("struct B {\n  Atomic<int> n = 0;\n};\nvoid f() { int n = 1; ++n; }\n")

    def test_only_the_runtime_is_held_to_it(self):
        text = "void f() { n.load(); }\n"
        self.assertEqual(self.found(text, "workloads/ping_pong.cpp"), [])

    def test_declarations_and_comments_are_no_operations(self):
        self.allowed("// x.load() is slow\ninline void full_fence() noexcept {}\n")


class Guarded(unittest.TestCase):
    def found(self, members, path="runtime/task/a.hpp"):
        text = f"struct A {{\n  base::Mutex mutex_;\n{members}}};\n"
        return [str(finding) for finding in guarded.check(Source(path, text))]

    def test_a_member_beside_a_lock_is_annotated_or_says_why_not(self):
        one = "  int one_ TASKBENCH_GUARDED_BY(mutex_) = 0;\n"
        self.assertEqual(self.found(one), [])
        self.assertEqual(len(self.found(one + "  int two_ = 0;\n")), 1)
        self.assertIn("a.hpp:5:", self.found(one + "  /// Two.\n  int two_ = 0;\n")[0])
        self.assertEqual(self.found(one + "  int two_ = 0;  // unguarded: mine alone\n"), [])
        self.assertEqual(self.found(one + "  // unguarded: mine alone\n  int two_ = 0;\n"), [])
        self.assertEqual(len(self.found("  std::map<int,\n           int> two_;\n" + one)), 1)

    def test_what_no_lock_need_guard_and_what_stands_apart_are_free(self):
        one = "  int one_ TASKBENCH_GUARDED_BY(mutex_) = 0;\n"
        free = "  base::Atomic<int> a_{0};\n  const int b_;\n  int& c_;\n  base::SpinLock d_;"
        self.assertEqual(self.found(one + free + "  // guards e\n"), [])
        for end in ("\n", " private:\n", "};\nstruct B {\n"):
            self.assertEqual(self.found(one + end + "  int two_ = 0;\n"), [])

    def test_a_lock_guards_something_or_says_what(self):
        self.assertEqual(len(self.found("")), 1)
        text = "struct A {\n  base::Mutex mutex_;  // guards a file\n};\n"
        self.assertEqual(messages(guarded.check, "runtime/task/a.hpp", text), [])

    def test_only_the_runtime_is_held_to_it(self):
        self.assertEqual(self.found("  int two_ = 0;\n", "harness/os/a.hpp"), [])


class Style(unittest.TestCase):
    def found(self, path, text):
        return messages(style.check, path, text)

    def test_good_files_pass(self):
        self.assertEqual(self.found("reports/a.hpp", "// Why.\n#pragma once\n"), [])
        self.assertEqual(self.found("reports/a.cpp", '#include "reports/a.hpp"\n'), [])
        self.assertEqual(self.found("cli/main.cpp", "int main() {}\n"), [])

    def test_lengths(self):
        self.assertEqual(self.found("a.py", "x" * style.MAX_COLUMNS + "\n"), [])
        self.assertEqual(len(self.found("a.py", "x" * (style.MAX_COLUMNS + 1) + "\n")), 1)
        self.assertEqual(self.found("a.py", "x\n" * style.MAX_LINES), [])
        self.assertEqual(len(self.found("a.py", "x\n" * (style.MAX_LINES + 1))), 1)

    def test_blanks_tabs_and_ends(self):
        self.assertEqual(len(self.found("cmake/a.cmake", "x \n")), 1)
        self.assertEqual(len(self.found("scripts/bench", "\tx\n")), 1)
        self.assertEqual(len(self.found("CMakeLists.txt", "x")), 1)
        self.assertEqual(len(self.found("CMakeLists.txt", "x\n\n")), 1)

    def test_unfinished_work(self):
        for word in ("TO" "DO", "FIX" "ME"):
            self.assertEqual(len(self.found("a.py", f"# {word}: later\n")), 1)

    def test_header_guards(self):
        self.assertEqual(len(self.found("cli/a.hpp", "int a;\n#pragma once\n")), 1)
        self.assertEqual(len(self.found("cli/a.hpp", "#ifndef A\n#define A\n#endif\n")), 1)

    def test_own_header_first(self):
        text = '#include <string>\n#include "reports/a.hpp"\n'
        self.assertEqual(len(self.found("reports/a.cpp", text)), 1)


class SourcesListed(unittest.TestCase):
    def found(self, cmake, *sources):
        texts = {"cli/CMakeLists.txt": cmake}
        files = [*texts, *(f"cli/{source}" for source in sources)]
        return [str(finding) for finding in sources_listed.check(files, texts.get)]

    def test_every_source_is_listed_and_every_listed_source_exists(self):
        cmake = "add_executable(a main.cpp  # old.cpp\n  commands/run.hpp)\n"
        self.assertEqual(self.found(cmake, "main.cpp", "commands/run.hpp"), [])
        self.assertEqual(len(self.found(cmake, "main.cpp", "commands/run.hpp", "old.cpp")), 1)
        self.assertEqual(len(self.found(cmake, "main.cpp")), 1)

    def test_a_folder_with_a_list_of_its_own_is_not_listed_above(self):
        texts = {
            "tests/CMakeLists.txt": "add_executable(a a.cpp)\n",
            "tests/model/CMakeLists.txt": "add_executable(b b.cpp)\n",
        }
        sources = ["tests/a.cpp", "tests/model/b.cpp"]
        self.assertEqual(list(sources_listed.check([*texts, *sources], texts.get)), [])
        sources.append("tests/model/c.cpp")
        found = [str(each) for each in sources_listed.check([*texts, *sources], texts.get)]
        self.assertEqual(found, ["tests/model/CMakeLists.txt:1: c.cpp is not listed"])

    def test_globs_are_refused(self):
        self.assertEqual(len(self.found("file(GLOB s *)\nadd_executable(a ${s})\n")), 1)

    def test_a_folder_without_a_list_is_refused(self):
        found = list(sources_listed.check(["reports/a.cpp"], lambda path: ""))
        self.assertEqual(len(found), 1)


class ProjectFiles(unittest.TestCase):
    def test_a_source_archive_is_walked_without_its_build_directory(self):
        with tempfile.TemporaryDirectory() as directory:
            root = Path(directory)
            for name in ("cli/main.cpp", "build/dev/x.cpp"):
                (root / name).parent.mkdir(parents=True, exist_ok=True)
                (root / name).touch()
            self.assertEqual(project_files(root), ["cli/main.cpp"])


if __name__ == "__main__":
    unittest.main()
