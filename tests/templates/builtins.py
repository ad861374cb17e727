#!/usr/bin/env python3
"""Calls every filter, test and global of Jinja2 and every method of Python's values, with many arguments each, and holds what we
make of it against Jinja2's answer.

    builtins.py ROWS [--seed N] [--share N]

ROWS: the program of rows.c.  The names come from the installed jinja2 and Python, so that a new one is noticed; one in N of their
calls is made, drawn from the seed.  Whether a call fails is compared, not the words.  Prints what differs; exit 1 where something
does that is not in DIFFERENT below."""
import argparse
import itertools
import json
import random
import re
import subprocess
import sys
import warnings

import jinja

#  What differs by intent, by a part of the template: docs/models.md names these.
DIFFERENT = [
    r"\|truncate\(.*, 1, 2\)",                           # An end that is no text
    r"\|random|lipsum",                                  # Chance
    r"map\('string'\)\|replace",                         # In the name of a generator
    r"\.(encode|to_bytes|from_bytes|fromhex)\b",         # Bytes
    r"\.mapping\b",                                      # Of a view: the dict, read only
    r"safe.*\.(escape|unescape|striptags|format_map)\b", # Of MarkupSafe alone, and what depends on its release
    r"\.(append|clear|extend|insert|pop|popitem|remove|reverse|setdefault|sort|update) is defined",    # They work here
]

CONTEXT = {
    "s": "Hello, Wörld", "p": "  a b\tc\nd ", "n": 5, "f": 2.5, "l": [3, 1, 2], "w": ["b", "A", "c"], "d": {"b": 1, "a": [2]},
    "m": [{"n": "x", "v": 2, "d": {"k": 1}}, {"n": "Y", "v": 1, "d": {"k": 0}}, {"n": "x", "v": 3}], "t": True, "o": None,
    "h": "<a href='x'>T & C</a> http://example.com/x?a=1&b=2 www.example.org me@example.com.",
}
VALUES = [
    "s", "p", "h", "''", "'abc'", "'ß ﬁ Ǆ'", "'12'", "'٣'", "'²'", "n", "-7", "0", "f", "-0.0", "1e16", "1e15", "l",
    "w", "d", "m", "t", "o", "nothing", "[]", "{}", "()", "(2, 1)", "range(3)", "d.items()", "d.keys()",
    "l|map('string')", "namespace(a=1)", "'<b>'|safe",
]
ARGUMENTS = [
    "", "0", "1", "-1", "2", "3, 2", "'a'", "' '", "'n'", "'v'", "'l'", "'a', 'b'", "'l', 'L', 1", "none", "true",
    "false", "1.5", "[1]", "{'a': 'b'}", "nothing", "s", "20", "20, '*'", "3, 1, 2", "'d.k'", "attribute='n'",
    "'n', true", "true, true", "true, 'value'", "3, 'x'", "'upper'", "'divisibleby', 2", "'equalto', 1",
    "'n', 'equalto', 'x'", "'n', default='z'", "default=1", "7, true", "7, true, '', 0", "10, false, '-'", "4, false",
    "indent=2", "x=1", "*[1, 2]", "'%s'", "''", "reverse=true", "'v', case_sensitive=true", "start=2", "width=3",
    "20, true", "method='floor'", "1, 'ceil'", "'_blank'", "['a', 'b']", "range(2)", "'abc', 'xyz'", "base=16",
    "0, 16", "'0x1f'", "n=1",
]
RECEIVERS = [
    "s", "p", "''", "'abc'", "'A-1 b'", "'ß ﬁ Ǆ'", "'٣²½'", "'a,b,,c'", "'{} {0}'", "'<b>'|safe", "n", "-7", "f",
    "1e16", "t", "l", "w", "d", "(2, 1, 2)", "range(3)", "o", "d.keys()", "d.items()",
]
GLOBALS = ["range", "dict", "namespace", "cycler", "joiner", "raise_exception", "strftime_now"]


def methods():
    """A value of each kind, and what Python lets one call on it."""
    for value in RECEIVERS:
        python = eval_python(value)
        for name in sorted(set(dir(python)) - {"_"}):
            if not name.startswith("_"):
                yield value, name


def eval_python(value):
    return jinja.IMMUTABLE.compile_expression(value)(**json.loads(json.dumps(CONTEXT)))


def sources():
    env = jinja.IMMUTABLE
    for name, value, arguments in itertools.product(sorted(env.filters), VALUES, ARGUMENTS):
        shown = f"{value}|{name}" + (f"({arguments})" if arguments else "")
        yield "{% set x = " + shown + " %}{{ x }} {{ x|list if x is iterable and x is not string else x }} {{ x is escaped }}"
    for name, value, arguments in itertools.product(sorted(env.tests), VALUES, ARGUMENTS):
        if re.fullmatch(r"\w+", name):
            yield "{{ " + f"{value} is {name}" + (f"({arguments})" if arguments else "") + " }}"
    for name, arguments in itertools.product(GLOBALS, ARGUMENTS + VALUES):
        yield "{% set x = " + f"{name}({arguments})" + " %}{{ x.next() if x.next else x() if x is callable else x }}"
    for (value, name), arguments in itertools.product(methods(), ARGUMENTS):
        yield ("{% set v = " + value + " %}{% set x = v." + name + f"({arguments})" + " %}{{ x }} "
               "{{ x|list if x is iterable and x is not string }} {{ v }}")
    for value, name in methods():
        yield "{{ (" + value + ")." + name + " is defined }}{{ (" + value + ")." + name + " is callable }}"
    for name in sorted(set(env.globals) - set(GLOBALS)):
        yield "{{ " + name + " is defined }}"


PIECES = [
    " ", " ", "\n", "\t", "a", "word", "well-known", "x-y-z", "--", "---", "-", "'", ".", ",", "(", ")", "<", ">",
    "[", "]", "9", "é", "\u00a0", "http://", "https://", "HTTP://", "www.", "mailto:", "ftp://", "example.com",
    "example.org/a?b=c#d", "1.2.3.4", "[::1]", "[1:2:3::f]", ":80", ":123456", "a@b.cd", "me@example.com", "xn--ab",
    "İ", "ſ", "&", "@", "_", "%", "/", ":", "x" * 30, "!", "it's", "ab-cd-", "\u2028",
]


def laid_out(draw):
    """Texts and values that urlize, wordwrap and pprint take apart."""
    def text(most):
        return "".join(draw.choice(PIECES) for _ in range(draw.randrange(most)))

    def value(depth):
        kind = draw.randrange(5 if depth else 3)
        return (text(12) if kind == 0 else draw.randrange(1000) if kind == 1 else text(60) if kind == 2
                else {text(3): value(depth - 1) for _ in range(draw.randrange(5))} if kind == 3
                else [value(depth - 1) for _ in range(draw.randrange(6))])

    calls = [
        "urlize", "urlize(7)", "urlize(-3, true, 'b', 'c a c', ['ftp:', 'ab-cd:'])",
        "wordwrap", "wordwrap(5)", "wordwrap(9, false)", "wordwrap(7, true, '|')", "wordwrap(11, break_on_hyphens=false)",
        "wordwrap(6, break_on_hyphens=1)",
    ]
    for _ in range(40000):
        yield "{{ " + jinja_text(text(24)) + "|" + draw.choice(calls) + " }}"
        yield "{{ " + jinja_text(value(3)) + "|pprint }}{{ (" + jinja_text(value(1)) + ",)|pprint }}"


def jinja_text(value):
    return json.dumps(value, ensure_ascii=False).replace("\u2028", "\\u2028")


def addresses(text):
    """What Python prints of objects is theirs."""
    text = text.lower()
    return " at 0x" in text or "<generator" in text or "<macro" in text or "function" in text


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("rows")
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(1 << 32))
    parser.add_argument("--share", type=int, default=20)
    options = parser.parse_args()
    print("seed", options.seed)
    warnings.simplefilter("ignore")
    draw = random.Random(options.seed)
    all_sources = itertools.chain(sources(), laid_out(draw))
    drawn = [source for source in dict.fromkeys(all_sources) if draw.randrange(options.share) == 0]
    rows = "\n".join(json.dumps({"source": source, "context": CONTEXT, "now_s": jinja.NOW_S}) for source in drawn)
    run = subprocess.run([options.rows], input=rows.encode(), capture_output=True, check=True)
    answers = [json.loads(line) for line in run.stdout.decode().split("\n")[:-1]]
    failed, different = 0, {}
    for source, ours in zip(drawn, answers):
        theirs = jinja.render(source, CONTEXT)
        failed += "error" in theirs
        meant = any(re.search(part, source) for part in DIFFERENT)
        if theirs.get("text") == ours.get("text") or addresses(theirs.get("text", "")) or meant:
            continue
        different[source] = theirs, ours
    for source, (theirs, ours) in different.items():
        print(json.dumps(source, ensure_ascii=False), "\n  Jinja2:", theirs, "\n  ours:  ", ours)
    print(f"{len(drawn)} templates, {failed} that fail, {len(different)} that differ")
    return bool(different or len(answers) != len(drawn))


if __name__ == "__main__":
    sys.exit(main())
