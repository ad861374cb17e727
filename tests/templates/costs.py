#!/usr/bin/env python3
"""Looks for templates whose steps take longer than a step may: every filter, test and method, and every operator, on large values.

    costs.py COSTS [--seed N] [--share N] [--steps N] [--most N] [--show N]

COSTS: the program of costs.c.  One in N of the calls is made in a loop until its steps are spent.  Prints those that took longest
for their steps; exit 1 where one took more than --most times what a loop that does nothing takes."""
import argparse
import itertools
import json
import random
import subprocess
import sys
import tempfile
import warnings

import jinja

CONTEXT = {
    "s": "ab c" * 25000, "u": "éß中" * 12000, "x": "a" * 100000, "p": " " * 100000, "q": "%" * 100000, "e": "'\"&<>" * 20000,
    "l": list(range(10000)), "w": ["w" * 20] * 5000, "n": "7" * 100000, "t": [str(i) for i in range(10000)],
    "d": {f"key{i}": i for i in range(2000)}, "m": [{"a": "ab c" * 250, "b": 1}] * 1000, "h": "-" * 50000 + "a",
    "b": "{" * 50000, "f": "{}" * 50000, "g": "<a>" * 30000, "a": "www.a.com " * 5000,
    "k": {"k" * 9990 + f"{i:010}": i for i in range(99)},
}
SETUP = "{% set r = range(100000) %}{% set v = d.keys() %}{% set i = d.items() %}"
LOOP = SETUP + "{% for i in r %}{% for j in r %}BODY{% endfor %}{% endfor %}"
VALUES = [
    *CONTEXT, "r", "v", "i", "'x'", "5", "2.5", "1e300", "5e-324", "[s]", "[[s]]", "{'a': s}", "(1,)", "s|safe",
    "9223372036854775807",
]
ARGUMENTS = [
    "", "s", "x", "x + 'b'", "'a'", "'b'", "''", "s, u", "'a', s", "'', s", "'ab', ''", "5", "100000", "'5'", "l", "w", "d",
    "t", "r", "true", "false, true", "attribute='a'", "'a', 'b', 'c'", "s, s, s", "1, 2", "x, 5", "none", "0, true",
    "'upper'", "'string'", "'replace', 'a', 'b'", "'eq', s", "[s]", "4, s", "9, true, s", "start=5", "s, 0, 90000",
    "(x, x, x)", "x[:50000] + 'b'", "'a' * 300", "separators=(s, s)", "indent=s", "(x,) * 1000",
]
OPERATIONS = [
    "A ~ A", "A + A", "A == A", "A != B", "A < A", "A in B", "B in A", "A[5]", "A[-1]", "A[::2]", "A[::-1]", "A[1:-1]",
    "A * 3", "A % (1,)", "A % A", "A and B", "not A", "-A", "A // 3", "A % 7", "A ** 2", "1.0000001 ** 1024", "[A, B]",
    "{A: 1}", "{'x': A}.x", "dict(A)", "namespace(A)", "cycler(A)", "range(A)", "A.x", "A['x']", "5[A]", "A[B]",
    "'%s' % (A,)", "'%4000d' % 1", "'%r' % (A,)", "'{}'.format(A)", "'{:>4000}'.format(1)", "'{0}{0}{0}'.format(A)",
    "'%.300f' % 1e300", "(A, A) < (A, B)", "[A] == [A]", "[A] * 5", "joiner(A)()", "A if A else A", "strftime_now(A)",
    "strftime_now('%c' * 10000)", "A[:50000] + 'b' in A", "A == A[:]", "A[0] in A", "'zz' in A", "('' ~ l)[:9990]",
    "l.pop(0)", "l.insert(0, 1)", "k['k' * 10000]",
]

STATEMENTS = [
    "{{ A }}", "{% set y %}{{ A }}{% endset %}", "{% filter upper %}{{ A }}{% endfilter %}", "{% for c in A %}{{ c }}{% endfor %}",
    "{% for c in A if c %}{% endfor %}", "{% for c in A recursive %}{{ loop([]) }}{% endfor %}",
    "{% for c in A %}{{ loop.previtem }}{% endfor %}",
    "{% macro f(z, y=1) %}{{ z }}{{ varargs }}{{ kwargs }}{% endmacro %}{{ f(A, 2, 3, k=4) }}",
    "{% if A %}{% elif s %}{% endif %}",
    "{% macro f() %}{{ caller() }}{% endmacro %}{% call f() %}{{ A }}{% endcall %}",
    "{% with a = A %}{{ a }}{% endwith %}",
    "{% generation %}{{ A }}{% endgeneration %}", "{% autoescape true %}{{ A }}{% endautoescape %}", "{% set a, b = 1, A %}",
    "{% set q = namespace(x=A) %}{% set q.y = A %}", "{% for c in A %}{{ loop.changed(A) }}{% break %}{% endfor %}",
    "{{ f(*A) }}", "{{ dict(**A) }}",
    "{% macro g(" + ", ".join(f"a{n}=1" for n in range(400)) + ") %}{% endmacro %}{{ g() }}",
    "".join("{%% set %s%d = 1 %%}" % ("z" * 400, n) for n in range(300)) + "{{ " + "z" * 400 + "0 }}",
]
#  Each once took far too long, and is looked at whatever is drawn.
FOUND = [
    "r|trim(x + 'b')", "x + x", "x ~ x", "x is eq (x + 'b')[:100000]", "[n]|string", "e|indent", "b.format()",
    "1e300|filesizeformat",
    "'a'|truncate(200000, true, x)", "k['k' * 10000]", "l.insert(0, l.pop())", "strftime_now('%c' * 10000)", "'y' * 50000",
    "l|join(x)", "l|tojson(separators=(x, x))", "('a' * 99).replace('a', x)", "x.startswith((x[:99999] + 'b',) * 99)",
]


def bodies():
    for statement, value in itertools.product(STATEMENTS, VALUES):
        yield statement.replace("A", value)
    for expression in expressions():
        yield "{% set y = " + expression + " %}"


def expressions():
    for name, value, arguments in itertools.product(sorted(jinja.IMMUTABLE.filters), VALUES, ARGUMENTS):
        yield f"{value}|{name}" + (f"({arguments})" if arguments else "")
    for name, value, arguments in itertools.product(sorted(jinja.IMMUTABLE.tests), VALUES, ARGUMENTS):
        if name.isalpha():
            yield f"{value} is {name}" + (f"({arguments})" if arguments else "")
    methods = sorted({name for value in ("", [], {}, (), 5, 2.5, range(3), {}.keys()) for name in dir(value) if name[0] != "_"})
    for value, name, arguments in itertools.product(VALUES, methods, ARGUMENTS):
        yield f"({value}).{name}({arguments})"
    for operation, value, other in itertools.product(OPERATIONS, VALUES, ["s", "w", "x + 'b'", "l"]):
        yield operation.replace("B", other).replace("A", f"({value})")


def measure(program, sources, steps):
    """(ns a step, whether they were spent) of each."""
    with tempfile.NamedTemporaryFile("w", suffix=".json") as context:
        json.dump(CONTEXT, context)
        context.flush()
        rows = "\n".join(json.dumps({"source": LOOP.replace("BODY", source)}) for source in sources)
        run = subprocess.run([program, context.name, str(steps)], input=rows.encode(), capture_output=True, check=True)
    return [(row["ns_a_step"], row["spent"]) for row in map(json.loads, run.stdout.decode().split("\n")[:-1])]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(1 << 32))
    parser.add_argument("--share", type=int, default=100)
    parser.add_argument("--steps", type=int, default=200000)
    parser.add_argument("--most", type=int, default=12)
    parser.add_argument("--show", type=int, default=10)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    draw = random.Random(options.seed)
    drawn = ["{% set y = " + body + " %}" for body in FOUND]
    drawn += [body for body in dict.fromkeys(bodies()) if draw.randrange(options.share) == 0]
    plain, *measured = measure(options.program, ["", *drawn], options.steps)
    slowest = sorted(zip(measured, drawn), reverse=True)
    for (ns_a_step, _), body in slowest[:options.show]:
        print(f"{ns_a_step:6} ns a step  {body[:110]}")
    spent = sum(spent for _, spent in measured)
    print(f"seed {options.seed}: {len(drawn)} calls, {spent} until their steps were spent; a loop takes {plain[0]} ns a step")
    return slowest[0][0][0] > options.most * max(plain[0], 1)


if __name__ == "__main__":
    sys.exit(main())
