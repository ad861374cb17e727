//  Feeds bytes to the configuration reader, and what it makes of them to a table with one row of every type.

#include <stdbool.h>

#include "runtime/option.h"
#include "tests/fuzz/fuzz.h"

typedef struct {
    bool bool_field;
    int64_t integer;
    int64_t decimal;
    uint64_t size;
    uint64_t duration;
    const char *string;
    int word;
    option_strings_t strings;
    option_strings_t command;
    const char *endpoint;
    const char *url;
    const char *secret;
    option_list_t list;
} fields_t;

static const char *const s_words [] = { "one", "two_words", NULL };

#define ROW(key, kind, field)                                                            \
    {                                                                                    \
        .name = key, .type = kind, .offset = offsetof (fields_t, field), .doc = "A row." \
    }

static const option_t s_inner [] = {
    ROW ("string", OPTION_STRING, string),
    OPTIONS_END,
};

static const option_t s_table [] = {
    ROW ("bool", OPTION_BOOL, bool_field),
    ROW ("integer", OPTION_INTEGER, integer),
    ROW ("decimal", OPTION_DECIMAL, decimal),
    ROW ("size", OPTION_SIZE, size),
    ROW ("duration", OPTION_DURATION, duration),
    ROW ("string", OPTION_STRING, string),
    { .name = "word",
        .type = OPTION_ENUM,
        .fallback = "one",
        .words = s_words,
        .offset = offsetof (fields_t, word),
        .doc = "A row." },
    ROW ("strings", OPTION_STRINGS, strings),
    ROW ("command", OPTION_COMMAND, command),
    ROW ("endpoint", OPTION_ENDPOINT, endpoint),
    ROW ("url", OPTION_URL, url),
    ROW ("secret", OPTION_SECRET, secret),
    { .name = "list",
        .type = OPTION_LIST,
        .table = s_inner,
        .size = sizeof (fields_t),
        .offset = offsetof (fields_t, list),
        .doc = "A row." },
    OPTIONS_END,
};

int
LLVMFuzzerTestOneInput (const uint8_t *data, size_t size)
{
    arena_t memory;
    arena_init (&memory, 4 << 20);
    complaints_t complaints;
    complaints_init (&complaints, "fuzz");
    fields_t fields;
    option_target_t target = { s_table, &fields };
    option_context_t context = { .memory = &memory, .complaints = &complaints };
    option_set_defaults (target, &context);
    config_t *config = config_parse (span_of (data, size), NULL, &complaints);
    if (config)
        option_read_section (target, config_root (config), "", &context);
    buffer_t out = { 0 };
    complaints_render (&complaints, &out);
    option_print_config (target, &out);
    buffer_fini (&out);
    config_destroy (&config);
    complaints_fini (&complaints);
    arena_fini (&memory);
    return 0;
}
