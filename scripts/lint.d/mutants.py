"""Every mutant still has something to break: its text stands in its file exactly once."""

import tomllib

from tree import Case, Check, Finding

TABLE = "tests/mutants/mutants.toml"


def stale_mutants(tree):
    if TABLE not in tree.files:
        return
    try:
        mutants = tomllib.loads(tree.text(TABLE))["mutant"]
    except (tomllib.TOMLDecodeError, KeyError) as error:
        yield Finding(TABLE, 0, f"cannot be read: {error}")
        return
    for mutant in mutants:
        text = (tree.text(mutant["file"]) or "") if mutant["file"] in tree.files else ""
        if text.count(mutant["from"]) != 1:
            yield Finding(TABLE, 0, f"\"{mutant['name']}\": {mutant['file']} has its text {text.count(mutant['from'])} times")


ROW = '[[mutant]]\nname = "n"\nfile = "a.c"\nfrom = "x"\nto = "y"\ntests = "t"\n'
CHECK = Check("mutants", stale_mutants, [
    Case({TABLE: ROW, "a.c": "a\n"}, f"{TABLE}: \"n\": a.c has its text 0 times"),
    Case({TABLE: ROW, "a.c": "x x\n"}, "has its text 2 times"),
    Case({TABLE: ROW + 'name = "m"\n', "a.c": "x\n"}, "cannot be read"),
    Case({TABLE: ROW, "a.c": "x\n"}, None),
])
