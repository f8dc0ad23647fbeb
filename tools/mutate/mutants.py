"""Finds the places of a C++ source where a small error can be planted, and plants many at once.

Each error (mutant) becomes an alternative of the source that a switch chooses at run time:
`a < b` becomes `(est_mutant::Is(7) ? (a <= b) : (a < b))`. So all mutants of a source cost one
compilation. The lines stay the same ones, so that an error of the compiler shows its mutant.

There is no parser: a place is found by the layout that clang-format gives. An operator between
spaces is binary, a bracket of a template has no space. What is found wrongly does not compile.
"""
import collections
import os
import re

# A mutant is text[start:end] with `prefix` before and `suffix` after it; @ stands for the switch.
# `before` and `after` are what the list shows.
Mutant = collections.namedtuple("Mutant", "path line operator before after start end prefix suffix")

SWAPS = {
    "comparison": {"<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "=="},
    "arithmetic": {"+": "-", "-": "+", "*": "/", "/": "*", "+=": "-=", "-=": "+="},
    "logic": {"&&": "||", "||": "&&"},
}
MIN_MAX = {"min": "max", "max": "min", "Min": "Max", "Max": "Min"}
# Operators that bind less have a higher number.
BINDING = {}
for number, operators in enumerate(["* / %", "+ -", "<< >>", "< <= > >=", "== !=", "&", "^", "|",
                                    "&&", "||", "? : = += -= *= /= |= &= %= <<= >>="]):
    BINDING.update(dict.fromkeys(operators.split(), number))
OPERATOR = re.compile(r"(?<=\s)(?:%s)(?=\s)" % "|".join(
    re.escape(operator) for operator in sorted(BINDING, key=len, reverse=True)))
# What ends an operand, unless its operator binds less; brackets are matched before.
STOP = re.compile(OPERATOR.pattern + r"|[()\[\]{},;]|\b(?:return|else|case|throw|do)\b")

NUMBER = re.compile(r"(?<![\w.\"'])(\d+)(?![\w.'])")
BOOL = re.compile(r"\b(?:true|false)\b")
# The object or the scope of a call or a name.
OWNER = r"(?:\w+(?:<[^<>;]*>)?(?:\(\))?(?:::|\.|->))*"
EXTREME = re.compile(r"(?<![\w.>:])(%s)(min|max|Min|Max)((?:<[^<>;]*>)?)\(" % OWNER)
CONDITION = re.compile(r"\bif \(([^;{}()]*(?:\([^()]*\)[^;{}()]*)*)\)")
RETURNS_ERROR = re.compile(r" \{?\s*return (?:absl::\w+Error|DataLoss|FailedPrecondition|NotFound|"
                           r"InvalidArgument|OutOfRange|ResourceExhausted|Unimplemented)\(")
CHECKED_CALL = re.compile(r"^[ ]{2,}(EST_RETURN_IF_ERROR\(([^;{}]*)\);)$", re.M)
NOT = re.compile(r"(?<![\w)\]])!(?=[\w(*:])")
# A call or an assignment on lines of its own.
STATEMENT = re.compile(r"^[ ]{2,}((?:\*?[\w.]+(?:->|\.|::))*[\w]+(?:\[[^;]*\])?"
                       r"(?:\([^;{}]*\)| [+\-*/|&]?= [^;{}]*);)$", re.M)
# A CHECK holds in every test: without it nothing changes.
NO_DELETION = re.compile(r"^(return|throw|using|break|continue|static_assert|goto|delete|EST_|"
                         r"D?CHECK)")
# What the compiler evaluates cannot depend on a switch.
CONSTANT = re.compile(r"\b(?:constexpr|static_assert|enum|case|template|using)\b"
                      r"[^;]*?(?:;|:(?=\s))")
# Comments and preprocessor lines; literals.
COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/|^#(?:[^\n]*\\\n)*[^\n]*", re.S | re.M)
LITERAL = re.compile(r"R\"\(.*?\)\"|\"(?:\\.|[^\"\\\n])*\"|(?<!\w)'(?:\\.|[^'\\\n])+'", re.S)
NO_CODE = re.compile(COMMENT.pattern + "|" + LITERAL.pattern, re.S | re.M)


def without_comments(text):
    """The text with comments and preprocessor lines blanked, at the same places."""
    def blank(match):
        found = match.group()
        return re.sub(r"[^\n]", " ", found) if found[0] in "/#" else found
    return NO_CODE.sub(blank, text)


def masked(text):
    """The text with all that is no code blanked, and literals filled with quotes."""
    return LITERAL.sub(lambda match: re.sub(r"[^\n]", '"', match.group()), without_comments(text))


class Source:
    """The code of a source, and the brackets that belong together."""

    def __init__(self, text):
        self.code = masked(text)
        # The copy of an expression must stand on one line.
        self.flat = without_comments(text).replace("\n", " ")
        self.partner, opened = {}, []
        for match in re.finditer(r"[()\[\]{}]", self.code):
            at = match.start()
            if match.group() in "([{":
                opened.append(at)
            elif opened:
                self.partner[at] = opened.pop()
                self.partner[self.partner[at]] = at

    def is_block(self, bracket):
        """Whether a { begins a block: clang-format puts a space before those, not before values."""
        return self.code[bracket] == "{" and self.code[bracket - 1].isspace()

    def operand_before(self, at, binding):
        """The start of the left operand of an operator at `at`."""
        start = at
        while True:
            stops = list(STOP.finditer(self.code, max(0, start - 1000), start))
            if not stops:
                return None
            stop = stops[-1]
            found = stop.group()
            if found in BINDING and BINDING[found] <= binding:
                start = stop.start()
                continue
            if found in ")]}" and stop.start() in self.partner:
                opening = self.partner[stop.start()]
                # `while (a) b += c`: the condition is no part of b.
                between = self.code[stop.end():start]
                is_condition = between[:1].isspace() and not between.isspace()
                if not self.is_block(opening) and not is_condition:
                    start = opening
                    continue
            text = self.code[stop.end():at]
            return stop.end() + len(text) - len(text.lstrip())

    def operand_after(self, at, binding):
        """The end of the right operand of an operator that ends at `at`."""
        end = at
        if binding == BINDING["="]:
            binding += 1  # the right side of an assignment may be a conditional expression
        while True:
            stop = STOP.search(self.code, end)
            if not stop:
                return None
            found = stop.group()
            if found in BINDING and BINDING[found] < binding:
                end = stop.end()
            elif found in "([{" and stop.start() in self.partner:
                end = self.partner[stop.start()] + 1
            else:
                return at + len(self.code[at:stop.start()].rstrip())

    def operand_of_not(self, at):
        """The end of the operand of a ! before `at`."""
        while True:
            match = re.compile(r"\*|\w+|::|\.|->|<[^<>;\s]*>(?=[(:])").match(self.code, at)
            if match:
                at = match.end()
            elif self.code[at] in "([" and at in self.partner:
                at = self.partner[at] + 1
            else:
                return at


def mutants_of(path, text):
    """All mutants of a source, in the order of their places."""
    source, found = Source(text), []
    code, flat = source.code, source.flat
    constants = [match.span() for match in CONSTANT.finditer(code)]

    def add(operator, start, end, after, region, form=None):
        """text[start:end] becomes `after`, inside text[region]. The default form is `? :`."""
        if None in region or region[0] >= region[1] or 'R"(' in text[region[0]:region[1]]:
            return
        if any(first <= start < last for first, last in constants):
            return
        line = text.count("\n", 0, start) + 1
        mutated = flat[region[0]:start] + after + flat[end:region[1]]
        prefix, suffix = form or (f"(@ ? ({mutated}) : (", "))")
        found.append(Mutant(path, line, operator, text[start:end], after, *region, prefix, suffix))

    for operator, swaps in SWAPS.items():
        for match in OPERATOR.finditer(code):
            if match.group() in swaps:
                start, end = match.span()
                binding = BINDING[match.group()]
                region = (source.operand_before(start, binding), source.operand_after(end, binding))
                add(operator, start, end, swaps[match.group()], region)
    for match in NUMBER.finditer(code):
        add("constant", *match.span(), str(int(match.group()) + 1), match.span())
    for match in BOOL.finditer(code):
        add("bool", *match.span(), "false" if match.group() == "true" else "true", match.span())
    for match in EXTREME.finditer(code):
        end = source.partner.get(match.end() - 1)
        if end:
            add("min/max", *match.span(2), MIN_MAX[match.group(2)], (match.start(), end + 1))
    for match in CONDITION.finditer(code):
        if " = " not in match.group(1):  # a declaration in the condition
            span = match.span(1)
            add("condition", *span, f"!({flat[span[0]:span[1]]})", span, ("@ != !!(", ")"))
            if RETURNS_ERROR.match(code, match.end()):
                add("error", *span, "false", span, ("!@ && (", ")"))
    for match in CHECKED_CALL.finditer(code):
        call = flat[match.start(2):match.end(2)]
        add("error", *match.span(1), call + ";", match.span(1),
            ("{ if (@) { (void)(" + call + "); } else ", " }"))
    for match in NOT.finditer(code):
        add("negation", *match.span(), "", (match.start(), source.operand_of_not(match.end())),
            ("(@ != (", "))"))
    for match in STATEMENT.finditer(code):
        # A line that continues another one is no statement.
        starts = code[:match.start()].rstrip().endswith((";", "{", "}", ")", "else", ":"))
        if starts and not NO_DELETION.match(match.group(1)):
            add("deletion", *match.span(1), ";", match.span(1), ("{ if (!@) ", " }"))
    return sorted(found, key=lambda m: (m.start, m.operator, m.after))


# The text before an instrumented source.
with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "mutant_switch.h"),
          encoding="utf-8") as switch_file:
    SWITCH = switch_file.read()


def instrumented(text, mutants):
    """The source with all of its mutants, {number: Mutant}, and where each is.

    Returns the text, and {number: (start, end)} in it.
    """
    inserts = []
    for number, m in mutants.items():
        prefix = m.prefix.replace("@", f"est_mutant::Is({number})")
        # The outer one of two regions begins first and ends last.
        inserts.append((m.start, 1, -m.end, number, prefix, number))
        inserts.append((m.end, 0, -m.start, -number, m.suffix, number))
    parts, length, last, spans = [SWITCH], len(SWITCH), 0, {}
    for at, is_start, _, _, inserted, number in sorted(inserts):
        length += at - last
        if is_start:
            spans[number] = (length, None)
        parts += [text[last:at], inserted]
        length, last = length + len(inserted), at
        if not is_start:
            spans[number] = (spans[number][0], length)
    return "".join(parts) + text[last:], spans


def mutants_at(text, spans, line, column):
    """The numbers of the mutants that an error of the compiler at a place comes from."""
    lines = text.split("\n")
    if line > len(lines):
        return []
    begin = sum(len(l) + 1 for l in lines[:line - 1])
    at, end = begin + column - 1, begin + len(lines[line - 1])
    here = [n for n, (first, last) in spans.items() if first <= at < last]
    return here or [n for n, (first, last) in spans.items() if first < end and last > begin]
