#include "harness/programs/layouts.hpp"

#include <glob.h>
#include <unistd.h>

#include <fstream>
#include <regex>

#include "harness/os/atomic_file.hpp"
#include "harness/os/cpu_affinity.hpp"
#include "harness/os/file_content.hpp"
#include "harness/os/process.hpp"
#include "harness/os/system_file.hpp"
#include "harness/programs/program.hpp"

namespace taskbench::harness {
namespace {

constexpr double kLinkTimeout_s = 1800;
constexpr std::size_t kMostScriptBytes = std::size_t{1} << 20;
constexpr const char* kLinkers[] = {"ld", "ld.bfd", "ld.gold", "ld.lld", "ld.mold"};

/// Takes the place of the linker of its name. The line above it sets $links. Records no links of
/// shared libraries or partial links, and never fails unless the linker does. rustc deletes its
/// objects after the link, wherever they are: .rcgu.o, and symbols.o.
constexpr const char* kRecorder = R"(
name=${0##*/}
# A cross compiler looks for its linker by this name, too; in PATH the two have one prefix.
compiler=${COLLECT_GCC-}
compiler=${compiler##*/}
prefix=${compiler%-[gc][c+][c+]*}
[ "$prefix" = "$compiler" ] && own=$name || own=$prefix-$name
real=$(PATH=${TASKBENCH_LINKERS-}$PATH; command -v "$own" || command -v "$name") ||
  { echo "$name: not in PATH" >&2; exit 127; }
temporary=${TMPDIR:-/tmp}
keep() {
  case $1 in
    "$temporary"/* | *.rcgu.o | */symbols.o) [ -f "$1" ] && cp -p "$1" "$record/" ;;
  esac
}
note() {
  record=$(mktemp -d "$links/link.XXXXXX") || return
  printf '%s\0' "$PWD" "$real" "$@" >"$record/command.new"
  printf '%s\0' "COLLECT_GCC=${COLLECT_GCC-}" "COLLECT_GCC_OPTIONS=${COLLECT_GCC_OPTIONS-}" \
    "COLLECT_LTO_WRAPPER=${COLLECT_LTO_WRAPPER-}" >"$record/environment"
  for word; do
    case $word in
      @*)
        keep "${word#@}"
        tr -s ' ' '\n' <"${word#@}" | while read -r each; do keep "$each"; done
        ;;
      *) keep "$word" ;;
    esac
  done
  mv "$record/command.new" "$record/command"
}
for word; do
  case $word in
    -shared | -Bshareable | -r | --relocatable | --version | -v) exec "$real" "$@" ;;
  esac
done
note "$@" 2>>"$links/errors"
exec "$real" "$@"
)";

/// Takes the place of the compiler of its name, which rustc calls to link: with -B and the folder
/// of a linker of its own, which comes before COMPILER_PATH. The lines above it set $real and
/// $linkers.
constexpr const char* kLinkingCompiler = R"(
for word; do
  case $word in -B?*) TASKBENCH_LINKERS=${TASKBENCH_LINKERS-}${word#-B}: ;; esac
done
export TASKBENCH_LINKERS
exec "$real" "-B$linkers" "$@"
)";
constexpr const char* kLinkingCompilers[] = {"cc", "gcc", "clang"};

/// A recorded link.
struct Link {
  fs::path record;
  fs::path folder;  ///< its working folder
  std::string linker;
  Strings words{};  ///< without the linker; names of kept temporary files are replaced
  Strings environment{};
  fs::path output{};
};

/// The recorder's copy of the file at this path, or else the path.
std::string kept(const fs::path& record, const std::string& path) {
  const fs::path copy = record / fs::path(path).filename();
  return path.starts_with('/') && fs::is_regular_file(copy) ? copy.string() : path;
}

/// The words of a command, with response files replaced by their words.
Strings without_responses(const fs::path& record, const Strings& words) {
  Strings result;
  for (const std::string& word : words) {
    const FileContent response =
        word.starts_with('@') ? read_file(kept(record, word.substr(1))) : FileContent{{}, "none"};
    if (!response.ok()) {
      result.push_back(kept(record, word));
      continue;
    }
    for (const std::string& each : split_command(response.bytes)) {
      result.push_back(kept(record, each));
    }
  }
  return result;
}

std::optional<Link> read_link(const fs::path& record) {
  const FileContent command = read_file(record / "command");
  Strings words = entries_of(command.bytes);
  if (words.size() < 3) return {};
  Link link{.record = record, .folder = words[0], .linker = words[1]};
  words.erase(words.begin(), words.begin() + 2);
  link.words = without_responses(record, words);
  link.environment = entries_of(read_file(record / "environment").bytes);
  const auto before_output = std::ranges::find(link.words, "-o");
  if (before_output == link.words.end() || before_output + 1 == link.words.end()) return {};
  link.output = (link.folder / *(before_output + 1)).lexically_normal();
  return link;
}

/// The link that made a program: matched by its file or, if that was stripped afterwards, by its
/// name; of several, such as one to take a profile and one that uses it, the last. Empty if none
/// did; `is_recorded` says whether there is any link.
std::optional<Link> link_of(const fs::path& records, const fs::path& program, bool& is_recorded) {
  // A script, such as libtool's, has prepared something before it calls the program of its name.
  const bool may_be_stripped = content_of(program).value_or("").starts_with(kElf);
  std::optional<Link> found;
  std::pair<bool, fs::file_time_type> best;
  std::error_code failed;
  for (const auto& entry : fs::directory_iterator(records, failed)) {
    std::optional<Link> link = read_link(entry.path());
    if (!link) continue;
    is_recorded = true;
    const bool is_its_file = have_equal_bytes(link->output, program);
    const bool has_its_name = link->output.filename() == program.filename();
    if (!is_its_file && !(may_be_stripped && has_its_name)) continue;
    std::error_code ignored;
    const std::pair rank(is_its_file, fs::last_write_time(entry.path() / "command", ignored));
    if (found && rank < best) continue;
    best = rank;
    found = std::move(link);
  }
  return found;
}

std::string why_no_link(const fs::path& records, const fs::path& program, bool is_recorded) {
  if (is_recorded) return "its build links programs, but none is " + program.filename().string();
  const std::string errors = read_file(records / "errors").bytes;
  if (!errors.empty()) {
    return fmt::format("its link could not be recorded: {}", lines_of(errors).back());
  }
  return "its build calls no linker that COMPILER_PATH leads to";
}

/// Writes words as a response file, and returns the word that names it.
std::string as_response(const fs::path& file, const Strings& words) {
  std::string text;
  for (const std::string& word : words) {
    text += '"';
    for (const char each : word) {
      if (each == '"' || each == '\\') text += '\\';
      text += each;
    }
    text += "\"\n";
  }
  std::ofstream(file, std::ios::binary) << text;
  return '@' + file.string();
}

/// The file in which a link lists the output of link-time optimisation for later links.
fs::path list_of_optimised(const Link& link) { return link.record / "optimised"; }

/// The variables that make g++ optimise at link time with a section for each function, since
/// otherwise the code has few pieces, and keep its objects, with names beginning with `between`.
/// The linker's plugin takes the word after the first -dumpdir for its value.
std::string optimising(const std::string& variable, const fs::path& between) {
  static const std::regex kPlace(" '-dumpdir' '[^']*'");
  return std::regex_replace(variable, kPlace, "") +
         fmt::format(" '-g0' '-ffunction-sections' '-save-temps' '-dumpdir' '{}.'",
                     between.string());
}

/// A script for sh that links completely or not at all. Intermediate files have unique names, since
/// several scripts run at once.
std::string script_of(const Link& link, const Strings& words, const std::string& output,
                      const fs::path& between) {
  std::string text = fmt::format("cd {} || exit\n", shell_word(link.folder));
  for (const std::string& variable : link.environment) {
    if (variable.ends_with('=')) continue;
    const bool is_of_options = variable.starts_with("COLLECT_GCC_OPTIONS=");
    text += fmt::format("export {}\n",
                        shell_word(is_of_options ? optimising(variable, between) : variable));
  }
  for (const std::string& word : words) text += shell_word(word) + ' ';
  const bool is_optimised = std::ranges::any_of(link.words, [](const std::string& word) {
    return word.starts_with("-plugin-opt=-fresolution=");
  });
  if (is_optimised) {
    text += shell_word(fmt::format("-plugin-opt=-fresolution={}.res", between.string())) + ' ';
  }
  if (fs::exists(list_of_optimised(link))) {
    text += shell_word("-plugin-opt=-ltrans-objects=" + list_of_optimised(link).string()) + ' ';
  }
  return text +
         fmt::format("--strip-debug -o {0}.new && mv {0}.new {0} || {{ rm -f {0}.new; exit 1; }}\n",
                     shell_word(output));
}

/// Lists the objects that link-time optimisation left at `between`, and removes its other files.
void keep_optimised(const Link& link, const fs::path& between) {
  std::string list;
  std::error_code failed;
  for (const auto& entry : fs::directory_iterator(link.record, failed)) {
    const std::string name = entry.path().filename().string();
    if (!name.starts_with(between.filename().string())) continue;
    if (name.ends_with(".ltrans.o")) {
      list += entry.path().string() + '\n';
    } else {
      std::error_code ignored;
      fs::remove(entry.path(), ignored);
    }
  }
  // Without the list, each layout is optimised again.
  if (!list.empty()) (void)write_atomically(list_of_optimised(link), list);
}

bool is_object(const std::string& word) {
  const std::string name = fs::path(word).filename().string();
  return name.ends_with(".o") && name.find("crt") == std::string::npos;
}

/// A random number for a name: sorting by it shuffles the names.
std::uint64_t draw_for(int seed, std::string_view name) {
  std::uint64_t state = 0xcbf29ce484222325 ^ static_cast<std::uint64_t>(seed);
  for (const char each : name) state = (state ^ static_cast<unsigned char>(each)) * 0x100000001b3;
  // FNV's upper bits hardly depend on the last bytes; the finaliser of splitmix64 mixes them.
  state = (state ^ (state >> 30)) * 0xbf58476d1ce4e5b9;
  state = (state ^ (state >> 27)) * 0x94d049bb133111eb;
  return state ^ (state >> 31);
}

Strings drawn(Strings names, int seed) {
  std::ranges::sort(names, {},
                    [&](const std::string& name) { return std::pair(draw_for(seed, name), name); });
  return names;
}

/// The words of each layout's link, without the output; or the reason for having none.
struct Relinks {
  std::vector<Strings> words;
  std::string why_none;
};

constexpr const char* kTooFewPieces =
    "the linker sees too few pieces of its code; compile with -ffunction-sections (in CFLAGS and "
    "CXXFLAGS)";

Relinks by_objects(const Link& link, int count) {
  std::vector<std::size_t> places;
  Strings objects;
  for (std::size_t i = 0; i < link.words.size(); ++i) {
    if (!is_object(link.words[i])) continue;
    places.push_back(i);
    objects.push_back(link.words[i]);
  }
  if (objects.size() < 4) return {{}, kTooFewPieces};
  Relinks result;
  for (int seed = 1; seed <= count; ++seed) {
    Strings words = link.words;
    const Strings order = drawn(objects, seed);
    for (std::size_t i = 0; i < places.size(); ++i) words[places[i]] = order[i];
    words.insert(words.begin(), link.linker);
    result.words.push_back(std::move(words));
  }
  return result;
}

Relinks by_shuffle(const Link& link, bool is_lld, int count) {
  Relinks result;
  for (int seed = 1; seed <= count; ++seed) {
    Strings words{link.linker, as_response(link.record / "words", link.words)};
    if (is_lld) {
      for (const char* sections : {".text*", ".rodata*", ".data*", ".bss*"}) {
        words.push_back(fmt::format("--shuffle-sections={}={}", sections, seed));
      }
    } else {
      words.push_back(fmt::format("--shuffle-sections={}", seed));
    }
    result.words.push_back(std::move(words));
  }
  return result;
}

/// A line of this kind precedes and follows GNU ld's script.
constexpr std::string_view kFence = "==================================================\n";

std::string script_in(std::string_view verbose) {
  const auto begin = verbose.find(kFence);
  if (begin == std::string_view::npos) return {};
  const auto from = begin + kFence.size();
  return std::string(verbose.substr(from, verbose.find(kFence, from) - from));
}

/// Links once to see how the linker does it, and to optimise the objects for the layouts.
Relinks by_script(const Link& link, int count, const std::stop_token& stop,
                  const std::function<void(double)>& waiting) {
  const std::string all = as_response(link.record / "words", link.words);
  const fs::path map = link.record / "map";
  const std::string once = script_of(link, {link.linker, all, "--verbose", "-Map=" + map.string()},
                                     link.record / "once", link.record / "once");
  const ProcessOutcome outcome = run_process({.command = {"sh", "-c", once},
                                              .timeout_s = kLinkTimeout_s,
                                              .waiting = waiting,
                                              .most_output_bytes = kMostScriptBytes},
                                             stop);
  if (!outcome.ok()) return {{}, fmt::format("its link, repeated, {}", outcome.text())};
  const std::string own = script_in(outcome.output);
  const auto pieces = pieces_of_map(read_file(map).bytes);
  std::error_code ignored;
  fs::remove(map, ignored);
  keep_optimised(link, link.record / "once");
  const auto text = std::ranges::find(pieces, ".text", &LinkedPieces::output);
  const std::size_t found = text == pieces.end() ? 0 : text->lines.size();
  if (found < 4) return {{}, kTooFewPieces};
  Relinks result;
  for (int seed = 1; seed <= count; ++seed) {
    const std::string script = script_with(own, pieces, seed);
    if (script == own) return {{}, "it is linked by a script of its own"};
    const fs::path file = link.record / fmt::format("script-{}", seed);
    if (const auto written = write_atomically(file, script); !written.ok()) {
      return {{}, written.error};
    }
    result.words.push_back({link.linker, all, "-T", file.string()});
  }
  return result;
}

Relinks relinks_of(const Link& link, int count, const std::stop_token& stop,
                   const std::function<void(double)>& waiting) {
  const ProcessOutcome asked = run_process({.command = {link.linker, "--version"}}, stop);
  if (!asked.ok()) return {{}, fmt::format("'{} --version' {}", link.linker, asked.text())};
  const std::string& version = asked.output;
  const bool is_lld = version.find("LLD") != std::string::npos;
  if (is_lld || version.find("mold") != std::string::npos) return by_shuffle(link, is_lld, count);
  if (version.starts_with("GNU ld")) return by_script(link, count, stop, waiting);
  return by_objects(link, count);
}

std::string layout_file(const fs::path& program, int number) {
  return fmt::format("{}.layout-{}", program.string(), number);
}

}  // namespace

Strings record_links(const fs::path& folder, Compilers compilers) {
  const auto write = [](const fs::path& file, const std::string& text) {
    std::ofstream(file, std::ios::binary) << "#!/bin/sh\n" << text;
    fs::permissions(file, fs::perms::owner_all, fs::perm_options::add);
  };
  const auto before = [](const char* variable) {
    const std::string value = environment_value(variable);
    return value.empty() ? "" : ":" + value;
  };
  const fs::path linkers = folder / "linkers";
  fs::create_directories(linkers);
  for (const std::string_view name : kLinkers) {
    const bool is_rusts = compilers == Compilers::also_rustc && name == "ld.lld";
    if (!is_rusts && called_path({std::string(name)}).empty()) continue;
    write(linkers / name, "links=" + shell_word(folder.string()) + kRecorder);
  }
  Strings variables{fmt::format("COMPILER_PATH={}{}", linkers.string(), before("COMPILER_PATH"))};
  if (compilers == Compilers::also_rustc) {
    const fs::path in_path = folder / "compilers";
    fs::create_directories(in_path);
    for (const char* name : kLinkingCompilers) {
      const fs::path real = called_path({name});
      if (real.empty()) continue;
      write(in_path / name, fmt::format("real={}\nlinkers={}{}", shell_word(real.string()),
                                        shell_word(linkers.string()), kLinkingCompiler));
    }
    variables.push_back(fmt::format("PATH={}{}", in_path.string(), before("PATH")));
  }
  return variables;
}

Layouts link_layouts(const fs::path& records, const fs::path& program, int count,
                     const std::stop_token& stop,
                     const std::function<void(double elapsed_s)>& waiting) {
  Layouts result;
  Strings missing;
  for (int number = 1; number <= count; ++number) {
    result.files.push_back(layout_file(program, number));
    if (!fs::exists(result.files.back())) missing.push_back(result.files.back());
  }
  if (missing.empty()) return result;
  bool is_recorded = false;
  const std::optional<Link> link = link_of(records, program, is_recorded);
  if (!link) return {{}, why_no_link(records, program, is_recorded)};
  Relinks relinks = relinks_of(*link, count, stop, waiting);
  if (!relinks.why_none.empty()) return {{}, relinks.why_none};
  std::string scripts;
  for (std::size_t i = 0; i < relinks.words.size(); ++i) {
    const fs::path file = link->record / fmt::format("layout-{}.sh", i + 1);
    const auto written =
        write_atomically(file, script_of(*link, relinks.words[i], result.files[i],
                                         link->record / fmt::format("layout-{}", i + 1)));
    if (!written.ok()) return {{}, written.error};
    scripts += shell_word(file) + ' ';
  }
  const ProcessOutcome outcome =
      run_process({.command = {"sh", "-c",
                               fmt::format("printf '%s\\0' {}| xargs -0 -n 1 -P {} sh", scripts,
                                           usable_cpu_count())},
                   .timeout_s = kLinkTimeout_s,
                   .waiting = waiting},
                  stop);
  if (!outcome.ok()) return {{}, fmt::format("its link in another order {}", outcome.text())};
  // A variable of the build, or a step after the link, may say where its libraries are.
  if (libraries_of(program) != libraries_of(result.files.front())) {
    std::error_code ignored;
    for (const std::string& file : result.files) fs::remove(file, ignored);
    return {{}, "linked again, it loads other libraries"};
  }
  return result;
}

Strings layouts_by_pattern(const std::string& pattern) {
  if (pattern.find_first_of("*?[{") == std::string::npos || fs::exists(pattern)) return {};
  ::glob_t found{};
  Strings files;
  if (::glob(pattern.c_str(), GLOB_BRACE, nullptr, &found) == 0) {
    for (std::size_t i = 0; i < found.gl_pathc; ++i) files.emplace_back(found.gl_pathv[i]);
  }
  ::globfree(&found);
  std::erase_if(files, [](const std::string& file) {
    return fs::is_directory(file) || ::access(file.c_str(), X_OK) != 0;
  });
  return files;
}

std::string digest_of_command(const std::string& command) {
  Strings words = split_command(command);
  const Strings files = layouts_by_pattern(words.front());
  if (files.empty()) return digest_of_program(words);
  std::string digests;
  for (const std::string& file : files) digests += digest_of_program({file});
  return files.size() == 1 ? digests : digest_of(digests);
}

std::vector<LinkedPieces> pieces_of_map(std::string_view map) {
  constexpr std::string_view kBegin = "Linker script and memory map";
  std::vector<LinkedPieces> result;
  for (const char* output : {".text", ".rodata", ".data", ".bss"}) result.push_back({output, {}});
  map.remove_prefix(std::min(map.find(kBegin), map.size()));
  std::string output;
  std::string section;
  for (const std::string_view line : lines_of(map)) {
    if (line.starts_with('.')) output = line.substr(0, line.find(' '));
    if (!line.starts_with(' ')) continue;
    std::string_view rest = line;
    if (line.starts_with(" .")) {
      section = line.substr(1, line.find(' ', 1) - 1);
      rest.remove_prefix(1 + section.size());
    }
    const auto piece = std::ranges::find(result, output, &LinkedPieces::output);
    if (section.empty() || piece == result.end()) continue;
    // An address, a size and a file, on the line of the section or, if its name is long, the next.
    const auto address = rest.find("0x");
    const auto size = rest.find("0x", address == std::string_view::npos ? address : address + 1);
    if (size == std::string_view::npos) continue;
    const auto file = rest.find(' ', size);
    const std::string name = std::exchange(section, {});
    if (file == std::string_view::npos || rest.substr(size, file - size) == "0x0") continue;
    std::string from(rest.substr(file + 1));
    const bool has_name = name.starts_with(piece->output + '.');
    const bool has_own_place =  // in an earlier place of the script
        std::ranges::any_of(std::array{".text.unlikely", ".text.exit", ".text.startup", ".text.hot",
                                       ".data.rel.ro"},
                            [&](const char* group) { return name.starts_with(group); });
    if ((!has_name && name != piece->output) || has_own_place) continue;
    if (from.find('"') != std::string::npos || name.find_first_of("*?[]\"") != std::string::npos) {
      continue;
    }
    if (fs::path(from).filename().string().find("crt") != std::string::npos) continue;
    if (const auto member = from.rfind('('); member != std::string::npos && from.ends_with(')')) {
      from = from.substr(0, member) + ':' + from.substr(member + 1, from.size() - member - 2);
    }
    // Link-time optimisation gives its objects new names each time.
    if (const auto lto = from.find(".ltrans"); lto != std::string::npos)
      from = '*' + from.substr(lto);
    piece->lines.push_back(has_name ? fmt::format("*({})", name)
                                    : fmt::format("\"{}\"({})", from, name));
  }
  for (LinkedPieces& each : result) {
    std::ranges::sort(each.lines);
    const auto twice = std::ranges::unique(each.lines);
    each.lines.erase(twice.begin(), twice.end());
  }
  return result;
}

std::string script_with(std::string_view own_script, const std::vector<LinkedPieces>& pieces,
                        int seed) {
  std::string script(own_script);
  for (const LinkedPieces& each : pieces) {
    // The catch-all pattern for sections that no earlier pattern has matched.
    const std::string rest =
        each.output == ".text" ? "*(.text .stub" : fmt::format("*({0} {0}.*", each.output);
    const auto place = script.find(rest);
    if (place == std::string::npos || each.lines.empty()) continue;
    std::string lines;
    for (const std::string& line : drawn(each.lines, seed)) lines += line + "\n    ";
    script.insert(place, lines);
  }
  return script;
}

}  // namespace taskbench::harness
