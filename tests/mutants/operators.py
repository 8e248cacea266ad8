"""Mutation operators: what may be wrong in a source of the runtime, found by libclang.

Every mutant of a file is planted in one text. `::mutants::on(N)` (mutants.hpp) is true while mutant
N is switched on, so a single build holds them all:

  left out     a statement:          { if (!on(N)) work(); }
  turned       a comparison:         ((a < b) != on(N)); what a function of type bool returns, or a
               variable of type bool begins with
  off by one   < and <=, > and >=:   less(N, a, b)
  always,      a condition:          if ((c || on(N)) && !on(M))
  never
  without      an operand of && and ||
  to ORDER     a weaker order:       order(N, release, relaxed)
  after what follows                 two statements in a row that publish something
  without lock a lock guard

No insertion contains a line break: a compiler's error names the line of the original.
"""

import bisect
import re
import sys
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

# Nothing is planted in code that only observes (assertions, counters, the tracer, planted delays),
# nor in names of threads and prefetches, which change nothing that a program could see.
WATCHES = re.compile(
    r"TASKBENCH_(ASSERT|TRACE)|counters?_?\b|\bcount(s|_\w+)?\(|record(er|ing)?\w*\b|\btrace"
    r"|tracer|plant|prefetch|name_this_thread|fail_assertion|publish_counts|\bcosts?_?\b"
    r"|\bspin_hint|yield_thread|outside_|\.add\(\)|static_cast<void>\(\w+\)$")
WAKES = re.compile(r"\b(un_?park\w*|wake\w*|notify\w*|futex_wake\w*|signal\w*|told|interrupt)\(")
PUBLISHES = re.compile(
    r"(?!.*(?:recorder|outside_|make_unique)).*(\.(store|exchange|set)|\b(fetch_\w+|append\w*"
    r"|push_\w+|unpark|wake\w*|\w+_(fence|leave|size)))\(.*\)$")
WEAKER = {"seq_cst": ("acq_rel",), "acq_rel": ("acquire", "release"), "acquire": ("relaxed",),
          "release": ("relaxed",)}
TURNED = ("==", "!=", "<", "<=", ">", ">=")
BOUNDARY = {"<": "less", "<=": "less_equal", ">": "greater", ">=": "greater_equal"}
TOKEN = re.compile(
    rb"//[^\n]*|/\*.*?\*/|R\"\((?:.*?)\)\"|\"(?:\\.|[^\"\\])*\"|'(?:\\.|[^'\\])*'|\s+"
    rb"|[A-Za-z_]\w*|\d[\w'.]*|<=>|<<=|->\*|\.\.\.|::|->|\+\+|--|&&|\|\||[<>=!+\-*/%&|^]=|<<|>>|.",
    re.DOTALL)


def load_libclang():
    """Loads the bindings of Debian's python3-clang-16, even in another Python than Debian's."""
    try:
        import clang.cindex as cindex
    except ImportError:
        sys.path.append("/usr/lib/python3/dist-packages")
        try:
            import clang.cindex as cindex
        except ImportError:
            sys.exit("mutate: needs libclang's Python bindings: scripts/install-deps nightly")
    library = "/usr/lib/llvm-16/lib/libclang-16.so.1"
    if Path(library).exists() and not cindex.Config.loaded:
        cindex.Config.set_library_file(library)
    return cindex


def children_of(cursor):
    """Returns all children except those unknown to the bindings: concepts, and what they
    require."""
    def is_known(child):
        try:
            return child.kind is not None
        except ValueError:
            return False
    return [child for child in cursor.get_children() if is_known(child)]


@dataclass
class Mutant:
    file: str
    function: str
    what: str
    line: int
    kind: str
    edits: list = field(default_factory=list)  # (position, is an opening, length, text, replaced)
    name: str = ""
    number: int = 0


class Source:
    """A file as bytes and tokens."""

    def __init__(self, path, text):
        self.path = path
        self.text = text
        self.tokens = [(match.start(), match.end(), match.group())
                       for match in TOKEN.finditer(text)
                       if not re.match(rb"\s|//|/\*", match.group())]
        self.starts = [token[0] for token in self.tokens]

    def token_from(self, offset):
        """Returns the index of the first token at or after the offset."""
        return bisect.bisect_left(self.starts, offset)

    def text_of(self, begin, end):
        """Returns the code there without comments, with each break as a space."""
        first, last = self.token_from(begin), self.token_from(end)
        text, before = "", None
        for token in self.tokens[first:last]:
            text += (" " if before is not None and before != token[0] else "")
            text += token[2].decode()
            before = token[1]
        return text

    def head_end(self, begin):
        """Returns where the head of the loop that begins there ends."""
        place = self.token_from(begin)
        while self.tokens[place][2] != b"(":
            place += 1
        return self.tokens[self.closing(place)][1]

    def closing(self, index):
        """Returns the index of the token that closes the parenthesis at the index."""
        depth = 0
        for place in range(index, len(self.tokens)):
            if self.tokens[place][2] == b"(":
                depth += 1
            elif self.tokens[place][2] == b")":
                depth -= 1
                if depth == 0:
                    return place
        raise ValueError(f"{self.path}: a parenthesis that is never closed")


class Planter:
    """Finds the mutants of one file, given its part of the parsed unit."""

    def __init__(self, cindex, source):
        self.kinds = cindex.CursorKind
        self.types = cindex.TypeKind
        self.source = source
        self.function = ""
        self.returns_bool = False
        self.found = {}
        self.decided = set()  # whole conditions for which "always" and "never" are planted

    # Names.

    def add(self, begin, end, kind, what, edits):
        key = (begin, end, what if kind == "order" else kind)
        if key in self.found:
            return
        line = self.source.text.count(b"\n", 0, begin) + 1
        self.found[key] = Mutant(self.source.path, self.function, what, line, kind, edits)

    def excerpt(self, begin, end):
        text = self.source.text_of(begin, end)
        return text if len(text) <= 90 else text[:87] + "…"

    # The walk.

    def visit(self, cursor):
        kinds = self.kinds
        kind = cursor.kind
        if kind in (kinds.STATIC_ASSERT, kinds.ENUM_DECL, kinds.PARM_DECL,
                    kinds.TYPE_ALIAS_DECL, kinds.TEMPLATE_NON_TYPE_PARAMETER,
                    kinds.FRIEND_DECL) or self.watches(cursor) or self.constrains(cursor):
            return
        outer = self.function, self.returns_bool
        if kind in (kinds.FUNCTION_DECL, kinds.CXX_METHOD, kinds.CONSTRUCTOR, kinds.DESTRUCTOR,
                    kinds.FUNCTION_TEMPLATE, kinds.CONVERSION_FUNCTION):
            self.function = re.sub(r"<.*", "", cursor.spelling)
            self.returns_bool = cursor.result_type.kind == self.types.BOOL
        elif kind == kinds.LAMBDA_EXPR:
            self.returns_bool = False
        children = children_of(cursor)
        if kind == kinds.COMPOUND_STMT:
            self.block(children)
        elif kind == kinds.IF_STMT:
            children = self.condition(cursor, children)
            self.branches(children)
        elif kind in (kinds.WHILE_STMT, kinds.FOR_STMT, kinds.CXX_FOR_RANGE_STMT):
            self.statement(children[-1])
        elif kind == kinds.RETURN_STMT and self.returns_bool and children:
            self.truth(children[0], "return ")
        elif kind == kinds.VAR_DECL:
            self.variable(cursor, children)
            if self.is_constexpr(cursor):
                children = []
        elif kind.is_expression():
            self.expression(cursor, children)
        for child in children:
            self.visit(child)
        self.function, self.returns_bool = outer

    def span(self, cursor):
        return cursor.extent.start.offset, cursor.extent.end.offset

    def watches(self, cursor):
        if not (cursor.kind.is_expression() or cursor.kind == self.kinds.DECL_STMT):
            return False
        begin, end = self.span(cursor)
        if self.source.text[begin:begin + 10] == b"TASKBENCH_":
            return True
        place = self.source.token_from(begin)
        return place >= len(self.source.tokens) or self.source.tokens[place][0] != begin

    def constrains(self, cursor):
        """Whether it is an operand of a requires clause, which the compiler evaluates."""
        place = self.source.token_from(cursor.extent.start.offset)
        before = [token[2] for token in self.source.tokens[max(0, place - 2):place]]
        return cursor.kind.is_expression() and (
            before[-1:] == [b"requires"] or before == [b"requires", b"("])

    def is_constexpr(self, cursor):
        begin, end = self.span(cursor)
        before = self.source.token_from(begin)
        texts = [token[2] for token in self.source.tokens[max(0, before - 3):before + 4]]
        return b"constexpr" in texts or b"constinit" in texts

    # Statements.

    def block(self, children):
        before = None
        for child in children:
            now = self.statement(child)
            if now is not None and before is not None:
                self.swap(before, now)
            before = now

    def branches(self, children):
        for child in children[1:]:
            self.statement(child)

    def statement(self, cursor):
        """Plants the statement's omission. Returns its begin and end if it publishes something."""
        kinds = self.kinds
        begin, end = self.span(cursor)
        semicolon = self.source.token_from(end)
        is_loop = cursor.kind in (kinds.WHILE_STMT, kinds.FOR_STMT, kinds.CXX_FOR_RANGE_STMT,
                                  kinds.DO_STMT)
        simple = cursor.kind in (kinds.BREAK_STMT, kinds.CONTINUE_STMT) or (
            cursor.kind.is_expression() and cursor.kind != kinds.CXX_THROW_EXPR)
        text = self.source.text_of(begin, end)
        if not text or WATCHES.search(text if simple else text.split("{")[0]):
            return None
        if is_loop and not re.match(r"(for \([^;]*;;|while \(true\)|do )", text):
            close = end
            if self.source.text[end - 1:end] not in (b"}", b";"):
                close = self.source.tokens[semicolon][1]
        elif simple and self.source.tokens[semicolon][2] == b";":
            if re.match(r"(throw|std::(rethrow_exception|abort|terminate)|co_return)\b", text):
                return None
            close = self.source.tokens[semicolon][1]
        else:
            return None
        kind, said = "left out", "left out"
        if re.search(r"\b(full|light|heavy|\w+)_fence\(\)", text):
            kind = said = "no fence"
        elif not is_loop and WAKES.search(text):
            kind = said = "no notify"
        length = close - begin
        shown = self.excerpt(begin, self.source.head_end(begin) if is_loop else end)
        self.add(begin, close, kind, f"`{shown}` {said}", [
            (begin, True, length, "{ if (!::mutants::on(%N)) ", 0),
            (close, False, length, " }", 0)])
        return (begin, close, end) if simple and PUBLISHES.match(text) else None

    def swap(self, before, now):
        length = before[1] - before[0]
        text = self.source.text[before[0]:before[1]].decode()
        code = re.sub(r"\s+", " ", re.sub(r"//[^\n]*", "", text))
        self.add(before[0], before[1], "swapped",
                 f"`{self.excerpt(before[0], before[2])}` after what follows", [
                     (before[0], True, length + 1, "{ if (!::mutants::on(%N)) ", 0),
                     (before[1], False, length + 1, " }", 0),
                     (now[1], False, 10**6, " if (::mutants::on(%N)) { " + code + " }", 0)])

    # Conditions.

    def condition(self, cursor, children):
        """Plants that the branch is always taken, and never. Returns the children that are not
        compile-time conditions."""
        begin = cursor.extent.start.offset
        place = self.source.token_from(begin) + 1
        if self.source.tokens[place][2] == b"constexpr":
            return children[1:]
        if self.source.tokens[place][2] != b"(":
            return children
        close = self.source.closing(place)
        first = self.source.tokens[place][1]
        last = self.source.tokens[close][0]
        depth = 0
        for index in range(place + 1, close):  # an init-statement
            token = self.source.tokens[index][2]
            depth += (token in b"({") - (token in b")}")
            if token == b";" and depth == 0:
                first = self.source.tokens[index + 1][0]
        text = self.source.text_of(first, last)
        if WATCHES.search(text) or "co_await" in text:
            return children
        shown = self.excerpt(first, last)
        declared = next((child for child in children[:2]
                         if child.kind == self.kinds.VAR_DECL), None)
        length = last - first
        if declared is not None:
            self.add(first, last, "never", f"`if ({shown})` never", [
                (last, False, length, f"; static_cast<bool>({declared.spelling}) "
                 "&& !::mutants::on(%N)", 0)])
            return children
        after = self.source.tokens[close][1]
        if re.match(r"\s*(\{\s*)?__builtin_prefetch", self.source.text[after:after + 40].decode(
                errors="replace")):
            return children
        self.decided.add((first, last))
        for nested, (kind, held) in enumerate((("always", "||"), ("never", "&& !"))):
            self.add(first, last, kind, f"`if ({shown})` {kind}", [
                (first, True, length + nested, "(static_cast<bool>(", 0),
                (last, False, length + nested, f") {held} ::mutants::on(%N))", 0)])
        return children

    def truth(self, cursor, before):
        """Plants a negated truth value, unless it comes from a comparison that is negated
        already."""
        begin, end = self.span(cursor)
        text = self.source.text_of(begin, end)
        if not text or text.startswith("co_await") or "co_await" in text or WATCHES.search(text):
            return
        if self.operator_of(cursor, children_of(cursor)) is not None:
            return
        length = end - begin
        self.add(begin, end, "turned", f"`{before}{self.excerpt(begin, end)}` turned", [
            (begin, True, length, "(static_cast<bool>(", 0),
            (end, False, length, ") != ::mutants::on(%N))", 0)])

    def variable(self, cursor, children):
        begin, end = self.span(cursor)
        if self.is_constexpr(cursor):
            return
        text = self.source.text_of(begin, end)
        guard = re.match(r"(?:const )?((?:base::)?(?:Lock|Spin)Guard) \w+\(", text)
        if guard and self.function:
            place = self.source.token_from(begin)
            while self.source.tokens[place][2] in (b"const",):
                place += 1
            first = self.source.tokens[place][0]
            replaced = len(guard.group(1))
            self.add(begin, end, "lock", f"`{self.excerpt(begin, end)}` without lock", [
                (first, True, replaced, f"::mutants::Unless<{guard.group(1)}, %N>", replaced)])
        initial = [child for child in children if child.kind.is_expression()]
        if (self.function and cursor.type.kind == self.types.BOOL and initial and
                re.match(r"(const )?bool \w+ =", text)):
            self.truth(initial[-1], f"bool {cursor.spelling} = ")

    # Expressions.

    def operator_of(self, cursor, children):
        """Returns the token of a comparison, or of && and ||, between two operands."""
        if len(children) < 2:
            return None
        begin, end = self.span(cursor)
        left, right = self.span(children[0]), self.span(children[-1])
        if left[0] != begin or right[1] != end or right[0] <= left[1]:
            return None
        token = self.source.tokens[self.source.token_from(left[1])]
        if not self.source.text[token[0] - 1:token[0]].isspace():  # opens template arguments
            return None
        if token[2].decode() in (*TURNED, "&&", "||") and token[1] <= right[0]:
            return token
        return None

    def expression(self, cursor, children):
        begin, end = self.span(cursor)
        if cursor.kind == self.kinds.DECL_REF_EXPR:
            self.order(cursor, begin, end)
            return
        token = self.operator_of(cursor, children)
        if token is None:
            return
        text = self.source.text_of(begin, end)
        if "co_await" in text or WATCHES.search(text):
            return
        sign = token[2].decode()
        left, right = self.span(children[0]), self.span(children[-1])
        if sign in ("&&", "||"):
            held = "|| ::mutants::on(%N)" if sign == "&&" else "&& !::mutants::on(%N)"
            for first, last in (left, right):
                length = last - first
                shown = f"`{self.excerpt(first, last)}` out of `{self.excerpt(begin, end)}`"
                self.add(first, last, "without", shown, [
                    (first, True, length, "(static_cast<bool>(", 0),
                    (last, False, length, f") {held})", 0)])
            return
        if not self.function:
            return
        length = end - begin
        shown = f"`{self.excerpt(begin, end)}`"
        if (begin, end) not in self.decided:
            self.add(begin, end, "turned", f"{shown} turned", [
                (begin, True, length, "((", 0),
                (end, False, length, ") != ::mutants::on(%N))", 0)])
        if sign in BOUNDARY:
            self.add(begin, end, "off by one", f"{shown} off by one", [
                (begin, True, length - 1, f"::mutants::{BOUNDARY[sign]}(%N, ", 0),
                (token[0], True, 0, ",", len(sign)), (end, False, length - 1, ")", 0)])

    def order(self, cursor, begin, end):
        text = self.source.text_of(begin, end)
        strong = text.split("::")[-1]
        if strong not in WEAKER or not self.function or "memory_order" not in cursor.type.spelling:
            return
        qualifier = text[:-len(strong)]
        length = end - begin
        for nested, weak in enumerate(WEAKER[strong]):
            self.add(begin, end, "order", f"{strong} to {weak}", [
                (begin, True, length + nested, "::mutants::order(%N, ", 0),
                (end, False, length + nested, f", {qualifier}{weak})", 0)])


def find(root, files, sources):
    """Returns the mutants of these files, by file; all sources are parsed together, once."""
    cindex = load_libclang()
    unit = "".join(f'#include "{source}"\n' for source in sources)
    name = f"{root}/mutants.cpp"  # beside the sources, which it includes by their paths
    parsed = cindex.Index.create().parse(name, ["-std=c++20", f"-I{root}", "-xc++"],
                                         [(name, unit)])
    errors = [each for each in parsed.diagnostics if each.severity >= cindex.Diagnostic.Error]
    if errors:
        sys.exit(f"mutate: libclang does not understand the sources: {errors[0]}")
    planters = {file: Planter(cindex, Source(file, (root / file).read_bytes())) for file in files}
    prefix = f"{root}/"
    for cursor in parsed.cursor.get_children():
        place = cursor.location.file
        if place is None:
            continue
        planter = planters.get(place.name.removeprefix(prefix))
        if planter is not None:
            planter.visit(cursor)
    return {file: named(planter) for file, planter in planters.items()}


def named(planter):
    """Returns the file's mutants in the order of their positions. Names contain no line numbers, as
    these change."""
    mutants = [planter.found[key] for key in sorted(planter.found, key=lambda key: key[:2])]
    names = Counter()
    for mutant in mutants:
        name = f"{mutant.file.removeprefix('runtime/')}, {mutant.function}: {mutant.what}"
        names[name] += 1
        mutant.name = name if names[name] == 1 else f"{name} ({names[name]})"
    return mutants


def planted(text, mutants):
    """Returns the text with these mutants in it, and for each of its lines the spans of columns,
    from 1, that a mutant covers."""
    edits = []
    for index, mutant in enumerate(mutants):
        for where, opens, length, inserted, replaced in mutant.edits:
            # Closing insertions come first, the innermost before others; opening ones, the
            # outermost first.
            edits.append((where, opens, -length if opens else length, index,
                          inserted.replace("%N", str(mutant.number)), replaced))
    made, at = bytearray(), 0
    places = {}
    for where, _, _, index, inserted, replaced in sorted(edits):
        made += text[at:where]
        first = len(made)
        made += inserted.encode()
        at = where + replaced
        places.setdefault(index, []).append((first, len(made)))
    made += text[at:]
    breaks = [place for place, byte in enumerate(made) if byte == 10]
    spans = []
    for index, own in places.items():
        spans.append((min(first for first, _ in own), max(last for _, last in own), mutants[index]))
    return bytes(made), breaks, spans


def blamed(breaks, spans, line, column):
    """Returns the mutants that may have caused an error at this place of a planted text: the
    innermost ones around it, or else those of the line."""
    begin = breaks[line - 2] + 1 if line > 1 else 0
    end = breaks[line - 1]
    place = begin + column - 1
    around = [(last - first, mutant) for first, last, mutant in spans if first <= place <= last]
    if around:
        return [min(around, key=lambda each: each[0])[1]]
    return [mutant for first, last, mutant in spans if first <= end and last >= begin]
