"""Jinja2 as transformers sets it up for chat templates: what our templates are held against.

Needs Python's jinja2 (Debian: python3-jinja2).  Templates that change a list or a dict are rendered again without the
immutable sandbox, since some published ones need it."""
import datetime
import json

import jinja2
from jinja2 import nodes
from jinja2.ext import Extension, loopcontrols
from jinja2.sandbox import ImmutableSandboxedEnvironment, SandboxedEnvironment

NOW = datetime.datetime(2026, 1, 15, 12)
NOW_S = 1768478400


class Generation(Extension):
    """{% generation %}: prints its body."""

    tags = {"generation"}

    def parse(self, parser):
        line = next(parser.stream).lineno
        body = parser.parse_statements(["name:endgeneration"], drop_needle=True)
        return nodes.CallBlock(self.call_method("_print"), [], [], body).set_lineno(line)

    def _print(self, caller):
        return caller()


def raise_exception(message):
    raise jinja2.exceptions.TemplateError(message)


def tojson(x, ensure_ascii=False, indent=None, separators=None, sort_keys=False):
    return json.dumps(x, ensure_ascii=ensure_ascii, indent=indent, separators=separators, sort_keys=sort_keys)


def environment(kind):
    env = kind(trim_blocks=True, lstrip_blocks=True, extensions=[Generation, loopcontrols])
    env.filters["tojson"] = tojson
    env.globals["raise_exception"] = raise_exception
    env.globals["strftime_now"] = lambda format: NOW.strftime(format)
    return env


IMMUTABLE = environment(ImmutableSandboxedEnvironment)
MUTABLE = environment(SandboxedEnvironment)


def render_in(env, source, context):
    try:
        return {"text": env.from_string(source).render(**json.loads(json.dumps(context)))}
    except Exception as error:  # noqa: BLE001: whatever a template raises is its answer
        return {"error": f"{type(error).__name__}: {error}"}


def render(source, context):
    """{"text"} or {"error"}."""
    answer = render_in(IMMUTABLE, source, context)
    return render_in(MUTABLE, source, context) if answer.get("error", "").startswith("SecurityError") else answer
