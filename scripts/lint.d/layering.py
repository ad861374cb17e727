"""Includes point down only.  The table is the one of docs/architecture.md."""

import re

from tree import Case, Check, Finding

NOUNS = {"hints", "kv", "model", "schemas", "base"}

#  What each room sees besides itself.
SEES = {
    "base": set(),
    "schemas": {"base"},
    "kv": {"schemas", "base"},
    "model": {"kv", "schemas", "base"},
    "runtime": {"schemas", "base"},
    "hints": NOUNS,
    "broker": NOUNS | {"runtime"},
    "actors": NOUNS | {"runtime"},
    "workers": NOUNS | {"runtime"},
    "kvbm": NOUNS | {"runtime"},
    "simulator": NOUNS | {"runtime"},
    "cli": NOUNS | {"runtime", "simulator", "broker", "actors", "workers", "kvbm"},
}
#  Folders that are no rooms: they may look anywhere.
OUTSIDE = {"tests", "examples"}
#  What tests may see besides: they put their class into a small world.
TESTED_WITH = {"simulator", "broker"}
#  A house of strangers: folders of these rooms know each other by message only.
APART = {"actors", "workers"}
#  What stands in a port is seen by its own port and by those who put a program together.
ASSEMBLERS = {"cli", "simulator", "tests"}
INCLUDE = re.compile(r'\s*#\s*include\s*"([^"]+)"')


def room_of(path):
    return path.split("/", 1)[0]


def folder_of(path):
    return "/".join(path.split("/")[:-1])


def complaint(path, included):
    """What is wrong with a file of ours including another, None when nothing is."""
    room, target, is_test = room_of(path), room_of(included), path.endswith("_test.c")
    if "/" not in included or included.startswith("."):
        return f"\"{included}\" is not written from the root of the repository"
    if target not in SEES and target not in OUTSIDE:
        return f"\"{included}\" is in no room of the house"
    if room in OUTSIDE:
        return None
    if target in OUTSIDE and not is_test:
        return f"{room}/ does not see {target}/"
    if "/port/" in included and folder_of(included) != folder_of(path) and room not in ASSEMBLERS and not is_test:
        return f"\"{included}\" is behind a port: only {' and '.join(sorted(ASSEMBLERS))} may see it"
    if target == room:
        mine, other = ("/".join(folder_of(name).split("/")[:2]) for name in (path, included))
        if room in APART and other not in (mine, room) and not is_test:
            return f"{mine}/ and {other}/ know each other by message only"
        return None
    if target in SEES[room] or is_test and target in OUTSIDE | TESTED_WITH:
        return None
    return f"{room}/ does not see {target}/: includes point down only"


def run(tree):
    for path in tree.c_files():
        if room_of(path) not in SEES and room_of(path) not in OUTSIDE:
            yield Finding(path, 0, f"{room_of(path)}/ is no room of the house (docs/architecture.md, scripts/lint.d/layering.py)")
            continue
        for number, line in tree.lines(path):
            match = INCLUDE.match(line)
            reason = match and complaint(path, match.group(1))
            if reason:
                yield Finding(path, number, reason)


def including(path, included, expected):
    return Case({path: f'#include "{included}"\n'}, expected)


CHECK = Check("layering", run, [
    including("base/map.c", "runtime/actor.h", "base/map.c:1: base/ does not see runtime/"),
    including("kv/block.c", "model/card.h", "kv/ does not see model/"),
    including("model/memo/memo.c", "kv/sequence.h", None),
    including("hints/envelope.c", "runtime/actor.h", "hints/ does not see runtime/"),
    including("actors/router/router.c", "actors/indexer/indexer.h", "know each other by message only"),
    including("workers/mock/mock.c", "workers/llamacpp/slots.h", "know each other by message only"),
    including("actors/router/router.c", "simulator/world.h", "actors/ does not see simulator/"),
    including("runtime/actor.c", "runtime/port/loop.h", "is behind a port"),
    including("base/map.c", "map.h", "is not written from the root"),
    including("base/map.c", "attic/map.h", "is in no room"),
    including("attic/map.c", "base/map.h", "attic/ is no room of the house"),
    including("runtime/actor.c", "tests/support.h", "runtime/ does not see tests/"),
    including("actors/router/router_test.c", "simulator/world.h", None),
    including("runtime/call_test.c", "broker/broker.h", None),
    including("actors/router/router.c", "actors/router/policies/policy.h", None),
    including("workers/mock/mock.c", "workers/worker.h", None),
    including("runtime/port/loop.c", "runtime/port/socket.h", None),
    including("cli/main.c", "runtime/port/loop.h", None),
    including("kv/index/index.c", "kv/block.h", None),
])
