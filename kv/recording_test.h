//  recording - for tests: what a real engine sent, as tests/data/engines/extract_events.py writes it

#ifndef KV_RECORDING_TEST_H
#define KV_RECORDING_TEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { RECORDING_EVENTS = 400, RECORDING_RUN = 64, RECORDING_TOKENS = 1024 };

typedef struct {
    char kind [8];                         //  "store", "remove", "clear"
    uint32_t engine;                       //  Which of those that were recorded
    uint32_t group;                        //  Of its caches
    uint32_t block_tokens;                 //  Tokens a block; 0: the tokens are not those of the blocks, and left out
    bool at_root;                          //  There is no parent
    uint64_t parent;                       //  0 for none
    size_t count;                          //  Of hashes
    uint64_t hashes [RECORDING_RUN];       //  As the engine named them, cut to 64 bits
    uint32_t tokens [RECORDING_TOKENS];    //  count * block_tokens
} recorded_event_t;

typedef struct {
    recorded_event_t events [RECORDING_EVENTS];    //  In order
    size_t count;                                  //  Of them
} recording_t;

static inline void
recording_read_store (recorded_event_t *event, FILE *file)
{
    char parent [17];
    assert_int_equal (fscanf (file, "%" SCNu32 " %16s", &event->block_tokens, parent), 2);
    event->at_root = *parent == '-';
    event->parent = event->at_root ? 0 : strtoull (parent, NULL, 16);
}

static inline void
recording_read_event (recorded_event_t *event, FILE *file)
{
    bool is_store = !strcmp (event->kind, "store"), is_clear = !strcmp (event->kind, "clear");
    assert_int_equal (fscanf (file, "%" SCNu32, &event->engine), 1);
    if (is_clear)
        return;
    assert_int_equal (fscanf (file, "%" SCNu32, &event->group), 1);
    if (is_store)
        recording_read_store (event, file);
    assert_int_equal (fscanf (file, "%zu", &event->count), 1);
    assert_true (event->count <= RECORDING_RUN && event->count * event->block_tokens <= RECORDING_TOKENS);
    for (size_t i = 0; i < event->count; i++)
        assert_int_equal (fscanf (file, "%" SCNx64, &event->hashes [i]), 1);
    for (size_t i = 0; i < event->count * event->block_tokens; i++)
        assert_int_equal (fscanf (file, "%" SCNu32, &event->tokens [i]), 1);
}

//  name: of the file in tests/data/engines.
static inline void
recording_read (recording_t *self, const char *name)
{
    char path [128];
    snprintf (path, sizeof path, "tests/data/engines/%s", name);
    FILE *file = fopen (path, "r");
    assert_non_null (file);
    memset (self, 0, sizeof *self);
    for (recorded_event_t *event = self->events; fscanf (file, "%7s", event->kind) == 1; event++) {
        recording_read_event (event, file);
        assert_true (++self->count < RECORDING_EVENTS);
    }
    fclose (file);
}

#endif
