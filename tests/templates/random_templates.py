#!/usr/bin/env python3
"""Draws templates from a seed and holds what we make of them against Jinja2's answer.

    random_templates.py ROWS [--seed N] [--count N]

ROWS: the program of rows.c.  Prints the seed and every template that differs; exit 1 where one does.  Only whether a
template fails is compared, not the words."""
import argparse
import json
import os
import random
import subprocess
import sys
import warnings

import jinja

HERE = os.path.dirname(os.path.abspath(__file__))
DATA = os.path.join(HERE, "..", "data", "chat_templates", "language.jsonl")

TEXTS = ["'a'", "'Ab c'", "''", "' x '", "'é😀'", "'1'", "'2.5'", "'a,b,c'", "'<b>'", '"it\'s"', "'a\\nb'", "'%s'", "'{}'"]
NUMBERS = ["0", "1", "2", "-1", "3.5", "-0.0", "10", "true", "1e3", "7"]
VALUES = ["user", "list", "text", "people", "messages", "nums", "deep", "nothing", "none", "false", "[]", "{}", "()",
          "[1, 'a', none]", "{'k': 1, 'b': [2]}", "(1, 2)", "range(4)", "user.name", "user.tags", "people[0]",
          "messages[0].content", "messages[-1]", "list|map('string')|list", "user.items()", "nums.f"]
ATTRIBUTES = ["name", "age", "role", "content", "k", "x", "tags", "first"]
FILTERS = ["upper", "lower", "trim", "length", "list", "first", "last", "join(',')", "join", "string", "int", "float", "abs",
           "round", "round(1)", "reverse", "sort", "unique|list", "sum", "min", "max", "tojson", "tojson(indent=2)",
           "default('d')", "default('d', true)", "replace('a', 'b')", "title", "capitalize", "items|list", "dictsort",
           "map('upper')|list", "map(attribute='name')|list", "select|list", "reject('none')|list", "count", "indent(2)",
           "selectattr('name')|list", "batch(2)|list", "slice(2)|list", "escape", "safe", "center(9)", "truncate(4)",
           "wordcount", "map('int')|list", "map('length')|list", "select('string')|list", "groupby('age')|list",
           "sort(reverse=true)", "sort(attribute='age')|list", "tojson(sort_keys=true, separators=(',', ':'))", "format(1)",
           "int(5)", "float(0.5)", "attr('name')", "urlencode", "e", "d(1)", "trim('a')", "reject|list", "string|length"]
TESTS = ["defined", "undefined", "none", "string", "number", "mapping", "sequence", "iterable", "integer", "float", "boolean",
         "true", "false", "odd", "even", "divisibleby(2)", "eq(1)", "in([1, 'a'])", "lower", "upper", "callable", "sameas(none)",
         "ge(1)", "ne('a')", "lt(3)", "escaped"]
METHODS = [".upper()", ".strip()", ".split()", ".split(',')", ".startswith('a')", ".endswith('c')", ".replace('a', 'x')",
           ".get('name')", ".get('zz', 1)", ".keys()|list", ".values()|list", ".items()|list", ".title()", ".lower()",
           ".count('a')", ".find('b')", ".join(['x', 'y'])", ".format(1, 2)", ".isdigit()", ".lstrip('a')", ".rstrip()",
           ".index(1)", ".count(1)", ".splitlines()", ".capitalize()", ".rsplit(',', 1)", ".partition(',')", ".zfill(4)",
           ".center(5, '*')", ".swapcase()", ".isalpha()", ".islower()", ".isupper()", ".copy()"]
SUBSCRIPTS = ["[0]", "[-1]", "[1:]", "[:-1]", "[::-1]", "[::2]", "['name']", "[5]", "[1:3]", "[none:2]", "['k']", "[-2:]"]
BINARY = ["+", "-", "*", "/", "//", "%", "~", "==", "!=", "<", ">", "<=", ">=", "and", "or", "in", "not in"]
BEFORE = ["", "", "-", "+"]


class Drawer:
    def __init__(self, seed):
        self.random = random.Random(seed)

    def pick(self, options):
        return self.random.choice(options)

    def atom(self):
        return self.pick(self.pick([TEXTS, NUMBERS, VALUES, VALUES]))

    def chain(self, depth):
        value = self.atom() if depth <= 0 or self.random.random() < 0.6 else f"({self.expression(depth - 1)})"
        for _ in range(self.random.choice([0, 0, 1, 1, 2])):
            kinds = [ATTRIBUTES, METHODS, SUBSCRIPTS, FILTERS, FILTERS]
            if value in NUMBERS or value[0] in "({[nf":    # Jinja folds constants, and then slices what Python would not
                kinds = [FILTERS]
            kind = self.pick(kinds)
            value += ("." if kind is ATTRIBUTES else "|" if kind is FILTERS else "") + self.pick(kind)
        return value

    def expression(self, depth):
        kind = self.random.random()
        if depth <= 0 or kind < 0.45:
            return self.chain(depth)
        if kind < 0.7:
            return f"{self.chain(depth - 1)} {self.pick(BINARY)} {self.chain(depth - 1)}"
        if kind < 0.8:
            return f"{self.chain(depth - 1)} is {self.pick(['', 'not '])}{self.pick(TESTS)}"
        if kind < 0.88:
            return f"{self.chain(depth - 1)} if ({self.expression(depth - 1)}) else {self.chain(depth - 1)}"
        if kind < 0.92:
            return f"not {self.chain(depth - 1)}"
        if kind < 0.96:
            return f"[{self.expression(depth - 1)}, {self.expression(depth - 1)}]"
        return "{" + f"{self.pick(TEXTS)}: {self.expression(depth - 1)}" + "}"

    def tag(self, inside):
        return "{%" + self.pick(BEFORE) + " " + inside + " " + self.pick(["", "", "-", "+"]) + "%}"

    def blanks(self):
        return self.pick(["", "", " ", "\n", "  \n", "\n  ", "x", "a\n", " b "])

    def printed(self):
        return "{{" + self.pick(["", "", "-"]) + " " + self.expression(1) + " " + self.pick(["", "", "-"]) + "}}"

    def statement(self, depth):
        kind = self.random.random()
        if depth <= 0 or kind < 0.4:
            return self.printed()
        body = self.body(depth - 1)
        if kind < 0.55:
            other = self.tag("else") + self.body(depth - 1) if self.random.random() < 0.5 else ""
            return self.tag("if (" + self.expression(1) + ")") + body + other + self.tag("endif")
        if kind < 0.72:
            target = self.pick(["i", "i", "k, v", "i, (j, k)"])
            walked = self.pick(["list", "user.items()", "people", "messages", "[[1, 2], [3, 4]]", "range(3)", "'abc'",
                                "list|reverse", "nothing", self.chain(1)])
            guard = " if " + self.pick(["loop is defined", "i", "true", "i != 2"]) if self.random.random() < 0.2 else ""
            inside = self.pick(["", "{{ loop.index }}", "{{ loop.last }}", "{% if loop.first %}{% continue %}{% endif %}",
                                "{% if loop.index > 2 %}{% break %}{% endif %}", "{% set s = loop.index %}{{ s }}",
                                "{% set ns.x = ns.x + 1 %}", "{{ i }}"])
            return self.tag(f"for {target} in {walked}{guard}") + inside + body + self.tag("endfor")
        if kind < 0.82:
            return self.tag("set s = " + self.expression(1)) + body + "{{ s }}"
        if kind < 0.87:
            return self.tag("set s") + body + self.tag("endset") + "{{ s|length }}{{ s }}"
        if kind < 0.94:
            given = self.pick(["", "1", "1, 2", "b=2", "a='x'", "c=1", "*[1, 2]", "**{'a': 1}"])
            return (self.tag("macro m(a, b='B')") + "{{ a }}{{ b }}" + body + self.tag("endmacro") +
                    "{{ m(" + given + ") }}")
        if kind < 0.97:
            return self.tag("filter " + self.pick(["upper", "trim", "indent(2)", "replace('a', 'b')"])) + body + \
                self.tag("endfilter")
        return self.tag("generation") + body + self.tag("endgeneration")

    def body(self, depth):
        parts = [self.blanks() + self.statement(depth) for _ in range(self.random.choice([1, 1, 2]))]
        return "".join(parts) + self.blanks()

    def template(self):
        return "{% set ns = namespace(x=0) %}" + self.body(2)


def addresses(text):
    """What Python prints of objects is theirs."""
    text = text.lower()
    return " at 0x" in text or "<generator" in text or "<macro" in text or "function" in text or "loopcontext" in text


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("rows")
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(1 << 32))
    parser.add_argument("--count", type=int, default=2000)
    options = parser.parse_args()
    print("seed", options.seed)
    warnings.simplefilter("ignore", SyntaxWarning)
    with open(DATA, encoding="utf-8") as file:
        context = json.loads(file.readline())["context"]
    drawer = Drawer(options.seed)
    sources = [drawer.template() for _ in range(options.count)]
    rows = "\n".join(json.dumps({"source": source, "context": context, "now_s": jinja.NOW_S}) for source in sources)
    run = subprocess.run([options.rows], input=rows.encode(), capture_output=True, check=True)
    answers = [json.loads(line) for line in run.stdout.decode().split("\n")[:-1]]
    different = failed = 0
    for source, ours in zip(sources, answers):
        theirs = jinja.render(source, context)
        failed += "error" in theirs
        if theirs.get("text") == ours.get("text") or addresses(theirs.get("text", "")):
            continue
        different += 1
        print(json.dumps(source, ensure_ascii=False), "\n  Jinja2:", theirs, "\n  ours:  ", ours)
    print(f"{options.count} templates, {failed} that fail, {different} that differ")
    return bool(different or len(answers) != len(sources))


if __name__ == "__main__":
    sys.exit(main())
