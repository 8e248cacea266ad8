"""The memory-order rule: every atomic operation in runtime/ names its order, and a comment says why
that order is right. Accesses that are seq_cst themselves are allowed only in SEQ_CST_ACCESSES, as
the permutation tester explores less of their total order than C++20 allows
(docs/design/permutation_testing.md says why that is enough there). Elsewhere, use a fence.

  release, acquire, acq_rel   "pairs with", naming the partner
  relaxed                     "relaxed:", and why that is enough
  seq_cst, *_fence()          "seq_cst:", and the story of the two threads

The comment is on the statement's own lines, or above it, with at most WINDOW lines between its end
and the statement, in the same function. A relaxed operation may instead rely on the comment at the
top of its function. The failure order of a compare_exchange needs no comment of its own.
"""

import re

from source import Finding

WINDOW = 6

# The file that implements the fences, from each other and from the system's.
FENCES = "runtime/base/sync_primitives."

SEQ_CST_ACCESSES = (
    "runtime/base/sync_primitives.hpp",
    "runtime/queue/inbox.hpp",
    "runtime/scheduler/global_queue/global_queue.cpp",
    "runtime/signal/listeners.hpp",
)

OPERATION = re.compile(
    r"(?:\.|->)\s*(?P<name>load|store|exchange|compare_exchange_weak|compare_exchange_strong"
    r"|fetch_\w+|test_and_set)\s*\(|\b(?P<fence>atomic_thread_fence|atomic_signal_fence)\s*\("
    r"|\b(?P<full>full_fence|light_fence|heavy_fence)\s*\("
)
ORDER = re.compile(r"\b(?:memory_order(?:_|::))?(relaxed|acquire|release|acq_rel|seq_cst)\b")
NEEDS = {"relaxed": "relaxed:", "seq_cst": "seq_cst:"}
DECLARATION = re.compile(r"\b(?:Atomic|atomic)\s*<")


def check(source):
    """Yields a Finding for each atomic operation of the file that breaks the rule."""
    if not source.is_cxx or not source.path.startswith("runtime/"):
        return
    yield from check_operations(source)
    yield from check_operator_forms(source)


def check_operations(source):
    for match in OPERATION.finditer(source.code):
        line = source.line_at(match.start())
        end = closing(source.code, match.end() - 1)
        if match.group("full"):
            if source.path.startswith(FENCES) or is_declaration(source.code, match.start(), end):
                continue
            order = "seq_cst"
        else:
            orders = ORDER.findall(source.code[match.end() : end])
            if not orders:
                name = match.group("name") or match.group("fence")
                yield Finding(source.path, line, f"{name}() does not name its memory order")
                continue
            order = orders[0]
            is_access = match.group("name") is not None
            if order == "seq_cst" and is_access and source.path not in SEQ_CST_ACCESSES:
                yield Finding(source.path, line, "a seq_cst access where only fences may be")
                continue
        needed = NEEDS.get(order, "pairs with")
        text = comment_of(source, match.start(), end, with_function=order == "relaxed")
        if needed not in text.lower():
            message = f'no comment with "{needed}" at this {order} operation'
            yield Finding(source.path, line, message)


def is_declaration(code, start, end):
    """Whether name(...) at start..end declares or defines the function: a type precedes it."""
    before = code[:start].rstrip()
    word = re.search(r"\w+$", before)
    return bool(word) and word.group() not in ("return", "else", "do")


def closing(code, opening):
    """Returns the offset of the parenthesis that closes the one at `opening`."""
    depth = 0
    for offset in range(opening, len(code)):
        if code[offset] == "(":
            depth += 1
        elif code[offset] == ")":
            depth -= 1
            if depth == 0:
                return offset
    return len(code)


def comment_of(source, start, end, with_function):
    """Returns the text of all comments that may explain the operation at offsets start..end."""
    first = source.line_at(statement_start(source.code, start))
    last = source.line_at(end)
    function = function_start(source, start)

    # Up to WINDOW lines above, never into another function; a comment block counts as a whole.
    top = max(first - WINDOW, function)
    while top > function and is_comment_line(source, top) and is_comment_line(source, top - 1):
        top -= 1
    text = source.comment_lines[top - 1 : last]
    if with_function:
        above = function
        while above > 1 and is_comment_line(source, above - 1):
            above -= 1
        text = source.comment_lines[above - 1 : function] + text
    return " ".join(" ".join(re.sub(r"^\s*(?://+<?|/?\*+)", "", line) for line in text).split())


def statement_start(code, offset):
    """Returns where the statement around `offset` begins: after the last ; { or } outside
    parentheses."""
    depth = 0
    while offset > 0:
        character = code[offset - 1]
        if character == ")":
            depth += 1
        elif character == "(":
            depth = max(0, depth - 1)
        elif character in ";{}" and depth == 0 and not in_for_header(code, offset - 1):
            break
        offset -= 1
    while offset < len(code) and code[offset].isspace():
        offset += 1
    return offset


def in_for_header(code, offset):
    """Whether the ';' at `offset` is one of those inside for (...)."""
    if code[offset] != ";":
        return False
    depth = 0
    for position in range(offset - 1, max(0, offset - 400), -1):
        character = code[position]
        if character == ")":
            depth += 1
        elif character == "(":
            if depth == 0:
                return True
            depth -= 1
        elif character in "{}" and depth == 0:
            return False
    return False


CONTROL = re.compile(r"\s*(?:\}\s*)?(?:else|if|for|while|switch|do|try|catch|case)\b")


def function_start(source, offset):
    """Returns the line on which the function around `offset` begins (for a lambda: the function
    around it); for code outside functions, the line of its statement."""
    code = source.code
    position = offset
    found = None
    while True:
        opening = enclosing_brace(code, position)
        if opening is None:
            break
        head = statement_start(code, opening)
        text = code[head : opening + 1]
        if re.match(r"\s*(?:(?:inline|extern)\s+)*namespace\b", text):
            break
        is_type = re.search(r"\b(?:class|struct|union|enum)\b[^()]*\{$", text)
        if not is_type and "(" in text and not CONTROL.match(text):
            found = source.line_at(head)
        if is_type:
            break
        position = opening
    return found if found is not None else source.line_at(statement_start(code, offset))


def enclosing_brace(code, offset):
    depth = 0
    for position in range(offset - 1, -1, -1):
        if code[position] == "}":
            depth += 1
        elif code[position] == "{":
            if depth == 0:
                return position
            depth -= 1
    return None


def is_comment_line(source, line):
    """Whether the line holds only a comment."""
    return not source.code_lines[line - 1].strip() and bool(source.comment_lines[line - 1].strip())


def check_operator_forms(source):
    """Finds `word_ = 1`, `++word_` and plain reads, which are sequentially consistent without
    saying so, by the names of the atomics declared in the same file. Names that are not members (no
    trailing underscore) are looked for only after . and ->, since a plain local may have the same
    name."""
    for name in atomic_names(source.code):
        bare = "" if name.endswith("_") else r"(?:\.|->)"
        for match in re.finditer(rf"{bare}\b{name}\b", source.code):
            before = source.code[: match.start()].rstrip()
            after = source.code[match.end() :].lstrip()
            if is_operator_form(before, after):
                yield Finding(
                    source.path,
                    source.line_at(match.start()),
                    f"operator form on the atomic {name}; name the operation and its memory order",
                )


def atomic_names(code):
    """Returns the names of the variables and members declared as atomics."""
    names = set()
    for match in DECLARATION.finditer(code):
        depth, position = 1, match.end()
        while position < len(code) and depth:
            depth += {"<": 1, ">": -1}.get(code[position], 0)
            position += 1
        declared = re.match(r"\s*(\w+)\s*(?:\[[^]]*\])?\s*[{;=]", code[position:])
        if declared:
            names.add(declared.group(1))
    return sorted(names)


def is_operator_form(before, after):
    if re.search(r"(?:\+\+|--)$", before) or re.match(r"\+\+|--", after):
        return True
    if re.match(r"(?:[-+|&^]|<<|>>)?=(?!=)", after):
        return not re.search(r">\s*$", before)  # `Atomic<int> word = 0` is its declaration
    compared = re.match(r"(?:==|!=|<=|>=|[-+*/%<>?](?!>))", after) and not after.startswith("->")
    read = re.search(r"(?:\breturn|[-+*/%!=<>]|\|\|)$", before) and re.match(r"[;)&|?]", after)
    return bool(compared) or bool(read and not re.search(r"(?:->|>)$", before))
