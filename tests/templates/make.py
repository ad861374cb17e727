#!/usr/bin/env python3
"""Writes what Jinja2 makes of every template of tests/data/chat_templates/language.jsonl behind it, or says what differs.

    make.py FILE            rewrite the answers
    make.py --check FILE    exit 1 where one is not Jinja2's

The first row is the context; each other row has a "source", and "text" or "error" as the answer.  To add a template, add a
row with its source."""
import json
import sys

import jinja


def main():
    check = sys.argv[1] == "--check"
    path = sys.argv[-1]
    with open(path, encoding="utf-8") as file:
        rows = [json.loads(line) for line in file]
    context = rows[0]["context"]
    fresh = [rows[0]] + [{"source": row["source"], **jinja.render(row["source"], context)} for row in rows[1:]]
    different = [new["source"] for old, new in zip(rows, fresh) if old.get("text") != new.get("text")]
    if check:
        print("\n".join(different))
        return bool(different)
    with open(path, "w", encoding="utf-8") as file:
        for row in fresh:
            file.write(json.dumps(row, ensure_ascii=False, separators=(",", ":")) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
