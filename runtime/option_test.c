//  One small table, read from files and from flags: what is right lands in the struct, what is wrong is told with its
//  place and with what was probably meant.

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <string.h>

#include "runtime/option.h"

typedef enum { COLOUR_RED, COLOUR_DARK_BLUE } colour_t;

typedef struct {
    const char *name;
    int64_t legs;
    option_strings_t nicknames;
} animal_t;

typedef struct {
    uint64_t wait_ns;
    uint64_t room;
    bool open;
} gate_t;

typedef struct {
    int64_t port;
    int64_t weight;
    colour_t colour;
    const char *endpoint;
    const char *url;
    const char *secret;
    option_strings_t command;
    gate_t gate;
    gate_t included;
    option_list_t animals;
} zoo_t;

static const char *const s_colours [] = { "red", "dark_blue", NULL };
static const option_refusal_t s_other_colours [] = { { "light_pink", "; pink is out of stock" }, { NULL, NULL } };

static const option_t s_animal [] = {
    { .name = "name",
        .type = OPTION_STRING,
        .traits = OPTION_REQUIRED,
        .offset = offsetof (animal_t, name),
        .doc = "Its name.",
        .example = "Elsa" },
    { .name = "legs",
        .type = OPTION_INTEGER,
        .fallback = "4",
        .max = 1000,
        .offset = offsetof (animal_t, legs),
        .doc = "Its legs." },
    { .name = "nicknames",
        .type = OPTION_STRINGS,
        .offset = offsetof (animal_t, nicknames),
        .doc = "What it is called.",
        .example = "[Lou, Lulu]" },
    OPTIONS_END,
};

static const option_t s_gate [] = {
    { .name = "wait",
        .type = OPTION_DURATION,
        .fallback = "30s",
        .min = 1,
        .max = 3600000000000,
        .offset = offsetof (gate_t, wait_ns),
        .doc = "How long it stays open.",
        .advice = "Raise it for the slow.",
        .traits = OPTION_LIVE },
    { .name = "room",
        .type = OPTION_SIZE,
        .fallback = "64MiB",
        .offset = offsetof (gate_t, room),
        .flag = "gate-size",
        .doc = "How much fits in." },
    { .name = "open",
        .type = OPTION_BOOL,
        .fallback = "true",
        .offset = offsetof (gate_t, open),
        .doc = "Whether it opens." },
    OPTIONS_END,
};

static const option_t s_included [] = {
    { .name = "extra_wait",
        .type = OPTION_DURATION,
        .fallback = "0",
        .offset = offsetof (gate_t, wait_ns),
        .doc = "More of it." },
    OPTIONS_END,
};

static const option_t s_zoo [] = {
    { .name = "port",
        .type = OPTION_INTEGER,
        .fallback = "8000",
        .max = 65535,
        .offset = offsetof (zoo_t, port),
        .letter = 'p',
        .doc = "Where it listens." },
    { .name = "weight",
        .type = OPTION_DECIMAL,
        .fallback = "1.0",
        .max = 10000000,
        .offset = offsetof (zoo_t, weight),
        .doc = "How much." },
    { .name = "colour",
        .type = OPTION_ENUM,
        .fallback = "red",
        .words = s_colours,
        .refusals = s_other_colours,
        .offset = offsetof (zoo_t, colour),
        .doc = "Paint." },
    { .name = "endpoint",
        .type = OPTION_ENDPOINT,
        .offset = offsetof (zoo_t, endpoint),
        .doc = "Its bus.",
        .example = "tcp://*:7400" },
    { .name = "url",
        .type = OPTION_URL,
        .offset = offsetof (zoo_t, url),
        .doc = "Its page.",
        .example = "http://127.0.0.1:1" },
    { .name = "secret",
        .type = OPTION_SECRET,
        .offset = offsetof (zoo_t, secret),
        .doc = "Its key.",
        .example = "file:key" },
    { .name = "command",
        .type = OPTION_COMMAND,
        .offset = offsetof (zoo_t, command),
        .doc = "What it runs.",
        .example = "feed --all" },
    { .name = "gate", .type = OPTION_SECTION, .table = s_gate, .offset = offsetof (zoo_t, gate), .doc = "The gate." },
    { .name = "", .type = OPTION_INCLUDE, .table = s_included, .offset = offsetof (zoo_t, included) },
    { .name = "animals",
        .type = OPTION_LIST,
        .table = s_animal,
        .size = sizeof (animal_t),
        .offset = offsetof (zoo_t, animals),
        .doc = "Who lives here." },
    OPTIONS_END,
};

//  A zoo that was read, with everything that must stay alive as long.
typedef struct {
    arena_t memory;
    complaints_t complaints;
    option_context_t context;
    zoo_t zoo;
    buffer_t said;    //  The complaints as text
} reading_t;

static const char *
s_variable (void *arg, const char *name)
{
    if (strcmp (name, "LEGS") == 0)
        return "3";
    return strcmp (name, "EMPTY") == 0 ? "" : NULL;
}

static status_t
s_read_file (void *arg, const char *path, buffer_t *out, error_t *error)
{
    if (strcmp (path, "key") != 0)
        return error_set (error, STATUS_NOT_FOUND, "there is no file '%s'", path);
    buffer_append_string (out, "open sesame\n");
    return STATUS_OK;
}

static const config_world_t s_world = { .variable = s_variable, .read_file = s_read_file };

static void
s_begin (reading_t *self)
{
    *self = (reading_t){ 0 };
    arena_init (&self->memory, 1 << 20);
    complaints_init (&self->complaints, "zoo.yaml");
    self->context = (option_context_t){ &self->memory, &self->complaints, &s_world };
    option_set_defaults ((option_target_t){ s_zoo, &self->zoo }, &self->context);
}

static void
s_read (reading_t *self, const char *text)
{
    s_begin (self);
    config_t *config = config_parse (span_from_string (text), &s_world, &self->complaints);
    if (config)
        option_read_section ((option_target_t){ s_zoo, &self->zoo }, config_root (config), "", &self->context);
    config_destroy (&config);
    complaints_render (&self->complaints, &self->said);
}

static void
s_end (reading_t *self)
{
    buffer_fini (&self->said);
    complaints_fini (&self->complaints);
    arena_fini (&self->memory);
}

static void
test_a_file_that_says_nothing_gives_the_defaults (void **state)
{
    static const char *const files [] = { "", "\n# nothing\n", "~", "gate:\nanimals: null\n", "---\n" };
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        reading_t reading;
        s_read (&reading, files [i]);
        assert_string_equal (buffer_string (&reading.said), "");
        assert_int_equal (reading.zoo.port, 8000);
        assert_int_equal (reading.zoo.weight, 1000000);
        assert_int_equal (reading.zoo.gate.wait_ns, 30000000000);
        assert_int_equal (reading.zoo.gate.room, 64 << 20);
        assert_true (reading.zoo.gate.open);
        assert_string_equal (reading.zoo.url, "");
        assert_int_equal (reading.zoo.animals.count, 0);
        s_end (&reading);
    }
}

static void
test_what_a_file_says_lands_in_the_struct (void **state)
{
    reading_t reading;
    s_read (&reading, "port: 0\n"
                      "weight: 0.25\n"
                      "colour: dark-blue\n"
                      "endpoint: tcp://*:7400\n"
                      "url: https://zoo.example\n"
                      "secret: file:key\n"
                      "command: feed 'the lion' --with=\"red \\\"meat\\\"\"\n"
                      "gate: { wait: 1.5min, room: 0.5KiB, open: off }\n"
                      "extra_wait: 20 ms\n"
                      "animals:\n"
                      "  - name: Elsa\n"
                      "    legs: ${LEGS}\n"
                      "    nicknames: [Lou, 'plain ${LEGS}', \"${UNSET:-none} $${LEGS} ${EMPTY:-filled}\"]\n"
                      "  - { name: Kaa, legs: 0, nicknames: Hiss }\n");
    assert_string_equal (buffer_string (&reading.said), "");
    const zoo_t *zoo = &reading.zoo;
    assert_int_equal (zoo->port, 0);
    assert_int_equal (zoo->weight, 250000);
    assert_int_equal (zoo->colour, COLOUR_DARK_BLUE);
    assert_string_equal (zoo->endpoint, "tcp://*:7400");
    assert_string_equal (zoo->secret, "open sesame");
    assert_int_equal (zoo->command.count, 3);
    assert_string_equal (zoo->command.items [1], "the lion");
    assert_string_equal (zoo->command.items [2], "--with=red \"meat\"");
    assert_null (zoo->command.items [3]);
    assert_int_equal (zoo->gate.wait_ns, 90000000000);
    assert_int_equal (zoo->gate.room, 512);
    assert_false (zoo->gate.open);
    assert_int_equal (zoo->included.wait_ns, 20000000);
    const animal_t *animals = zoo->animals.items;
    assert_int_equal (zoo->animals.count, 2);
    assert_int_equal (animals [0].legs, 3);
    assert_string_equal (animals [0].nicknames.items [1], "plain ${LEGS}");
    assert_string_equal (animals [0].nicknames.items [2], "none ${LEGS} filled");
    assert_string_equal (animals [1].nicknames.items [0], "Hiss");
    s_end (&reading);
}

typedef struct {
    const char *file;    //  What was written
    const char *said;    //  All that must be said about it
} bad_t;

static const bad_t s_bad [] = {
    { "prot: 1\n", "zoo.yaml:1:1: unknown key 'prot'; did you mean 'port'?\n" },
    { "gate:\n  wiat: 1s\n", "zoo.yaml:2:3: unknown key 'wiat' in gate; did you mean 'wait'?\n" },
    { "animals:\n  - name: a\n    xylophone: 1\n", "zoo.yaml:3:5: unknown key 'xylophone' in animals[0]\n" },
    { "extra-wait: 1s\n", "zoo.yaml:1:1: unknown key 'extra-wait'; did you mean 'extra_wait'?\n" },
    { "animals:\n  - legs: 2\n", "zoo.yaml:2:5: animals[0] has no 'name'\n" },
    { "port: 70000\n", "zoo.yaml:1:7: port: '70000' is not a whole number from 0 to 65535\n" },
    { "port: 1.5\n", "zoo.yaml:1:7: port: '1.5' is not a whole number from 0 to 65535\n" },
    { "port: -1\n", "zoo.yaml:1:7: port: '-1' is not a whole number from 0 to 65535\n" },
    { "port: 99999999999999999999\n", "zoo.yaml:1:7: port: '99999999999999999999' is too large\n" },
    { "port: [1]\n", "zoo.yaml:1:7: port must be a value, not a list\n" },
    { "weight: 10.000001\n", "zoo.yaml:1:9: weight: '10.000001' is not a number from 0.0 to 10.0\n" },
    { "weight: 0.1234567\n", "zoo.yaml:1:9: weight: '0.1234567' is not a number from 0.0 to 10.0\n" },
    { "colour: rde\n", "zoo.yaml:1:9: colour: 'rde' is not red|dark_blue; did you mean 'red'?\n" },
    { "colour: Light-Pink\n", "zoo.yaml:1:9: colour: 'Light-Pink' is not red|dark_blue; pink is out of stock\n" },
    { "colour: light_pinks\n", "zoo.yaml:1:9: colour: 'light_pinks' is not red|dark_blue\n" },
    { "endpoint: tcp://host\n",
        "zoo.yaml:1:11: endpoint: 'tcp://host' is not an endpoint (tcp://HOST:PORT, ipc://PATH)\n" },
    { "endpoint: tcp://h:65536\n",
        "zoo.yaml:1:11: endpoint: 'tcp://h:65536' is not an endpoint (tcp://HOST:PORT, ipc://PATH)\n" },
    { "url: zoo.example\n", "zoo.yaml:1:6: url: 'zoo.example' is not a URL (http://HOST:PORT)\n" },
    { "secret: file:none\n", "zoo.yaml:1:9: secret: there is no file 'none'\n" },
    { "command: say 'hi\n", "zoo.yaml:1:10: command: 'say 'hi' has a quote that is not closed\n" },
    { "gate: 5\n", "zoo.yaml:1:7: gate must be a section, not a value\n" },
    { "gate:\n  wait: 30\n", "zoo.yaml:2:9: gate.wait: '30' needs a unit: 30s, 30ms or 30min\n" },
    { "gate:\n  wait: 30 sec\n",
        "zoo.yaml:2:9: gate.wait: '30 sec' has the unknown unit 'sec'; known are ns, us, ms, s, min, h and d\n" },
    { "gate:\n  wait: 2h\n", "zoo.yaml:2:9: gate.wait: '2h' is not a duration (30s, 250ms, 20min) from 1ns to 1h\n" },
    { "gate:\n  room: 1MB5\n", "zoo.yaml:2:9: gate.room: '1MB5' has the unknown unit 'MB5'; known are B, KiB, MiB, "
                               "GiB, TiB, kB, MB, GB and TB\n" },
    { "gate:\n  room: 99999999TiB\n", "zoo.yaml:2:9: gate.room: '99999999TiB' is too large\n" },
    { "gate:\n  open: ture\n", "zoo.yaml:2:9: gate.open: 'ture' is not true or false; did you mean 'true'?\n" },
    { "animals: { name: a }\n", "zoo.yaml:1:10: animals must be a list, not a section\n" },
    { "animals: [a]\n", "zoo.yaml:1:11: animals[0] must be a section, not a value\n" },
    { "animals:\n  - { name: a, nicknames: [[b]] }\n",
        "zoo.yaml:2:28: animals[0].nicknames[0] must be a value, not a list\n" },
    { "port: ${NOPE}\n", "zoo.yaml:1:7: environment variable 'NOPE' is not set; set it, or write ${NOPE:-default}\n" },
    { "url: http://${1X}\n",
        "zoo.yaml:1:6: '${1X}' is neither ${NAME} nor ${NAME:-default}; write $${ for ${ itself\n" },
    { "port: 1\nport: 2\n", "zoo.yaml:2:1: key 'port' is there already, in line 1\n" },
    { "port: &a 1\n", "zoo.yaml:1:7: anchors (&), aliases (*) and tags (!) are not used here; put the text in quotes "
                      "if it is text\n" },
    { "port: !!int 1\n", "zoo.yaml:1:7: anchors (&), aliases (*) and tags (!) are not used here; put the text in "
                         "quotes if it is text\n" },
    { "? [a]\n: b\n", "zoo.yaml:1:3: a key must be plain text\n" },
    { "- a\n", "zoo.yaml:1:1: the file must be a section of 'key: value' lines\n" },
    { "hello\n", "zoo.yaml:1:1: the file must be a section of 'key: value' lines\n" },
    { "port: 1\n---\nport: 2\n", "zoo.yaml:2:1: a second document begins here; one file is one document\n" },
    { "url: \"http://a\\0b\"\n", "zoo.yaml:1:6: a value must not hold a NUL character\n" },
    { "port: [1\n",
        "zoo.yaml:2:1: did not find expected ',' or ']' while parsing a flow sequence; close the bracket, and put text "
        "with '{', ':' or '#' in it in quotes\n" },
    { "port: 1\n\tgate: 2\n", "zoo.yaml:2:1: found a tab character that violates indentation while scanning a plain "
                              "scalar; indent with spaces\n" },
    { "port: \xff\n",
        "zoo.yaml:1:7: invalid leading UTF-8 octet; a configuration is text in UTF-8: save it as such\n" },
    { "a: {a: {a: {a: {a: {a: {a: {a: {a: {a: {a: {a: {a: {a: {a: {a: {a: {}}}}}}}}}}}}}}}}}\n",
        "zoo.yaml:1:64: sections and lists are nested too deeply\n" },
    //  All of it is told, in the order of the file.
    { "gate:\n  wait: 1\nport: x\nzzz: 1\n", "zoo.yaml:2:9: gate.wait: '1' needs a unit: 1s, 1ms or 1min\n"
                                             "zoo.yaml:3:7: port: 'x' is not a whole number from 0 to 65535\n"
                                             "zoo.yaml:4:1: unknown key 'zzz'\n" },
};

static void
test_what_is_wrong_is_told_with_its_place (void **state)
{
    for (size_t i = 0; i < sizeof s_bad / sizeof *s_bad; i++) {
        reading_t reading;
        s_read (&reading, s_bad [i].file);
        assert_string_equal (buffer_string (&reading.said), s_bad [i].said);
        s_end (&reading);
    }
}

static void
test_a_flood_of_mistakes_is_cut_and_counted (void **state)
{
    buffer_t file = { 0 };
    for (int i = 0; i < 30; i++)
        buffer_print (&file, "unknown%d: 1\n", i);
    reading_t reading;
    s_read (&reading, buffer_string (&file));
    assert_non_null (strstr (buffer_string (&reading.said), "zoo.yaml:20:1: unknown key"));
    assert_non_null (strstr (buffer_string (&reading.said), "\nzoo.yaml: 10 more\n"));
    error_t error;
    assert_int_equal (complaints_to_error (&reading.complaints, &error), STATUS_INVALID);
    assert_string_equal (error.text, "zoo.yaml:1:1: unknown key 'unknown0' (and 29 more)");
    s_end (&reading);
    buffer_fini (&file);
}

typedef struct {
    const char *words [6];    //  Behind the command
    const char *said;         //  Complaints
} flags_t;

static const flags_t s_bad_flags [] = {
    { { "--prot", "1" }, "zoo.yaml: unknown flag '--prot'; did you mean '--port'?\n" },
    { { "--gate-wiat=1s" }, "zoo.yaml: unknown flag '--gate-wiat=1s'; did you mean '--gate-wait'?\n" },
    { { "--port" }, "zoo.yaml: '--port' needs a value\n" },
    { { "--port", "x" }, "zoo.yaml: --port: 'x' is not a whole number from 0 to 65535\n" },
    { { "--gate-sise=1KiB" }, "zoo.yaml: unknown flag '--gate-sise=1KiB'; did you mean '--gate-size'?\n" },
    { { "--gate-room=1KiB" }, "zoo.yaml: unknown flag '--gate-room=1KiB'; did you mean '--gate-size'?\n" },
    { { "-x" }, "zoo.yaml: unknown flag '-x'; --help lists them\n" },
    { { "--no-port" }, "zoo.yaml: unknown flag '--no-port'; --help lists them\n" },
    { { "--animals", "1" }, "zoo.yaml: unknown flag '--animals'; --help lists them\n" },
};

static void
s_read_flags (reading_t *self, const char *const *words, array_t *rest)
{
    size_t count = 0;
    while (words [count])
        count++;
    s_begin (self);
    option_target_t target = { s_zoo, &self->zoo };
    option_read_arguments (&target, 1, words, count, rest, &self->context);
    complaints_render (&self->complaints, &self->said);
}

static void
test_flags_reach_into_sections (void **state)
{
    const char *const words [] = { "first", "--gate-wait", "10ms", "--gate_size=1KiB", "--no-gate-open", "--colour",
        "dark-blue", "-p7", "--command", "run 'a b'", "--extra-wait", "1s", "-", "--", "--port", NULL };
    array_t rest;
    array_init (&rest, sizeof (const char *));
    reading_t reading;
    s_read_flags (&reading, words, &rest);
    assert_string_equal (buffer_string (&reading.said), "");
    assert_int_equal (reading.zoo.gate.wait_ns, 10000000);
    assert_int_equal (reading.zoo.gate.room, 1024);
    assert_false (reading.zoo.gate.open);
    assert_int_equal (reading.zoo.colour, COLOUR_DARK_BLUE);
    assert_int_equal (reading.zoo.port, 7);
    assert_string_equal (reading.zoo.command.items [1], "a b");
    assert_int_equal (reading.zoo.included.wait_ns, 1000000000);
    assert_int_equal (rest.count, 3);
    assert_string_equal (*(const char **)array_at (&rest, 0), "first");
    assert_string_equal (*(const char **)array_at (&rest, 1), "-");
    assert_string_equal (*(const char **)array_at (&rest, 2), "--port");
    array_fini (&rest);
    s_end (&reading);
}

static void
test_bad_flags_are_refused_with_a_suggestion (void **state)
{
    for (size_t i = 0; i < sizeof s_bad_flags / sizeof *s_bad_flags; i++) {
        array_t rest;
        array_init (&rest, sizeof (const char *));
        reading_t reading;
        s_read_flags (&reading, s_bad_flags [i].words, &rest);
        assert_string_equal (buffer_string (&reading.said), s_bad_flags [i].said);
        array_fini (&rest);
        s_end (&reading);
    }
}

//  What is printed can be read again, and gives the same.
static void
test_a_printed_struct_reads_back_the_same (void **state)
{
    reading_t first, second;
    s_read (&first, "weight: 0.000001\ngate: {wait: 90s, room: 1000}\nsecret: s\ncommand: [a b, '', \"q\\\"${LEGS}\", "
                    "'$${x}', 'tail:', '# no']\n"
                    "animals: [{name: \"yes\", nicknames: [~]}, {name: 'a: b', legs: 5}]\n");
    buffer_t text = { 0 }, again = { 0 };
    option_print_config ((option_target_t){ s_zoo, &first.zoo }, &text);
    s_read (&second, buffer_string (&text));
    assert_string_equal (buffer_string (&second.said), "");
    option_print_config ((option_target_t){ s_zoo, &second.zoo }, &again);
    assert_string_equal (buffer_string (&text), buffer_string (&again));
    assert_string_equal (second.zoo.command.items [2], "q\"3");
    assert_string_equal (second.zoo.command.items [3], "$${x}");
    assert_null (strstr (buffer_string (&text), "secret"));
    buffer_clear (&text);
    option_print_secrets ((option_target_t){ s_zoo, &first.zoo }, &text);
    assert_non_null (strstr (buffer_string (&text), "\nsecret: s\n"));
    buffer_fini (&text);
    buffer_fini (&again);
    s_end (&first);
    s_end (&second);
}

static void
test_the_commented_defaults_are_a_file (void **state)
{
    buffer_t text = { 0 };
    reading_t reading;
    option_print_config ((option_target_t){ s_zoo, NULL }, &text);
    s_read (&reading, buffer_string (&text));
    assert_string_equal (buffer_string (&reading.said), "");
    assert_non_null (strstr (buffer_string (&text),
        "gate:\n"
        "  #  How long it stays open. Raise it for the slow. A reload changes it. [a duration (30s, 250ms,\n"
        "  #  20min) from 1ns to 1h]\n"
        "  wait: 30s\n"));
    assert_non_null (
        strstr (buffer_string (&text), "#animals:\n#  Its name. [text; must be given]\n#  - name: Elsa\n\n#  Its legs. "
                                       "[a whole number from 0 to 1000]\n#    legs: 4\n"));
    s_end (&reading);
    buffer_fini (&text);
}

static void
s_on_change (void *arg, const char *path, const option_t *row)
{
    buffer_print (arg, "%s%s ", path, row->traits & OPTION_LIVE ? "(live)" : "");
}

static void
test_what_differs_is_named (void **state)
{
    reading_t before, after;
    buffer_t changes = { 0 };
    s_read (&before, "secret: a\nanimals: [{name: Elsa}, {name: Kaa}]\n");
    s_read (&after, "secret: b\ngate: {wait: 31s}\nextra_wait: 1s\nanimals: [{name: Elsa}, {name: Kaa, legs: 0}]\n");
    option_compare (s_zoo, &before.zoo, &before.zoo, "", s_on_change, &changes);
    assert_string_equal (buffer_string (&changes), "");
    option_compare (s_zoo, &before.zoo, &after.zoo, "", s_on_change, &changes);
    assert_string_equal (buffer_string (&changes), "secret gate.wait(live) extra_wait animals ");
    buffer_fini (&changes);
    s_end (&before);
    s_end (&after);
}

static void
test_help_and_manual_come_from_the_table (void **state)
{
    buffer_t help = { 0 }, manual = { 0 };
    option_print_help (s_zoo, &help);
    assert_non_null (strstr (buffer_string (&help), "  --port N, -p                    Where it listens. [8000]\n"));
    assert_non_null (strstr (buffer_string (&help), "  --colour red|dark_blue          Paint. [red]\n"));
    assert_non_null (strstr (buffer_string (&help), "  --gate-open                     Whether it opens.\n"));
    assert_null (strstr (buffer_string (&help), "animals"));
    option_print_manual (s_zoo, 2, &manual);
    assert_non_null (strstr (buffer_string (&manual), "| `colour` | red\\|dark_blue | `red` | Paint. |\n"));
    assert_non_null (strstr (buffer_string (&manual), "\n## animals[]\n\nWho lives here.\n"));
    const char *included = strstr (buffer_string (&manual), "| `extra_wait` |");
    assert_non_null (included);
    assert_null (strstr (included + 1, "| `extra_wait` |"));
    buffer_fini (&help);
    buffer_fini (&manual);
}

static void
test_an_unsound_table_is_found (void **state)
{
    static const option_t bad_default [] = {
        { .name = "a", .type = OPTION_INTEGER, .fallback = "x", .doc = "A." },
        OPTIONS_END,
    };
    static const option_t twice [] = {
        { .name = "a", .type = OPTION_BOOL, .doc = "A." },
        { .name = "a", .type = OPTION_BOOL, .doc = "A." },
        OPTIONS_END,
    };
    static const option_t silent [] = {
        { .name = "a", .type = OPTION_BOOL },
        OPTIONS_END,
    };
    error_t error;
    assert_true (option_table_is_sound (s_zoo, &error));
    assert_false (option_table_is_sound (bad_default, &error));
    assert_string_equal (error.text, "a: 'x' is not a whole number");
    assert_false (option_table_is_sound (twice, &error));
    assert_false (option_table_is_sound (silent, &error));
}

int
main (void)
{
    const struct CMUnitTest tests [] = {
        cmocka_unit_test (test_a_file_that_says_nothing_gives_the_defaults),
        cmocka_unit_test (test_what_a_file_says_lands_in_the_struct),
        cmocka_unit_test (test_what_is_wrong_is_told_with_its_place),
        cmocka_unit_test (test_a_flood_of_mistakes_is_cut_and_counted),
        cmocka_unit_test (test_flags_reach_into_sections),
        cmocka_unit_test (test_bad_flags_are_refused_with_a_suggestion),
        cmocka_unit_test (test_a_printed_struct_reads_back_the_same),
        cmocka_unit_test (test_the_commented_defaults_are_a_file),
        cmocka_unit_test (test_what_differs_is_named),
        cmocka_unit_test (test_help_and_manual_come_from_the_table),
        cmocka_unit_test (test_an_unsound_table_is_found),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
