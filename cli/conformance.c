#include "cli/conformance.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <zmq.h>

#include "base/memory.h"
#include "model/bundle/bundle.h"
#include "schemas/status.h"

enum {
    PROMPT_TOKENS = 130,
    ASKED_TOKENS = 8,
    LONG_TOKENS = 4096,
    TOKENS_MAX = 8192,
    QUIET_MS = 300,
    ARENA_MAX = 64 << 20,
    FILES_WINDOW = 64 << 10,
    FILES_MAX = 512 << 20,
    AT_ONCE = 4
};

//  A check under way.
typedef struct {
    const conformance_t *conformance;    //  What is tested
    caller_t *caller;                    //  To the worker
    arena_t arena;                       //  Answers
    error_t *note;                       //  What was seen
    bool said;                           //  The note is worth reading although the check passed
    uint32_t prompt [PROMPT_TOKENS];     //  Printable bytes, whatever the vocabulary
} trial_t;

//  What came of a generation.
typedef struct {
    uint64_t id;                     //  Of the stream
    uint32_t tokens [TOKENS_MAX];    //  In order
    uint64_t count;                  //  How many
    bool ended;                      //  The end is there
    generate_end_t end;              //  What it says
} generation_t;

static check_result_t s_say (trial_t *self, check_result_t result, const char *format, ...)
    __attribute__ ((format (printf, 3, 4)));

//  What was seen, in words, and what it amounts to.
static check_result_t
s_say (trial_t *self, check_result_t result, const char *format, ...)
{
    va_list arguments;
    va_start (arguments, format);
    vsnprintf (self->note->text, sizeof self->note->text, format, arguments);
    va_end (arguments);
    self->said = true;
    return result;
}

static uint64_t
s_timeout (const trial_t *self)
{
    return self->conformance->timeout_ms;
}

//  ---- Small conversations -------------------------------------------------------------------------------------------

static status_t
s_ping (trial_t *self, pong_t *pong)
{
    ping_t ping = { 0 };
    return caller_call (self->caller, &ping_message, &ping, s_timeout (self), &self->arena, pong, self->note);
}

//  After something that was wrong: the worker is still there.
static check_result_t
s_still_there (trial_t *self)
{
    pong_t pong;
    if (s_ping (self, &pong) != STATUS_OK) {
        error_prefix (self->note, "afterwards it does not answer a ping");
        return CHECK_FAILED;
    }
    return CHECK_PASSED;
}

static generate_t
s_request (const trial_t *self, const char *name, uint32_t max_tokens)
{
    return (generate_t){
        .request = span_from_string (name),
        .model = self->conformance->model,
        .tokens = column_of_u32 (self->prompt, PROMPT_TOKENS),
        .sampling = { .has_max_tokens = true, .max_tokens = max_tokens, .has_ignore_eos = true, .ignore_eos = true },
    };
}

static uint64_t
s_start (trial_t *self, const generate_t *request, uint64_t credit)
{
    return caller_start (self->caller, &generate_message, request, s_timeout (self), credit);
}

static void
s_send_plain (trial_t *self, uint64_t id, frame_kind_t kind, uint64_t position)
{
    frame_header_t header = {
        .version = WIRE_VERSION, .kind = kind, .id = id, .has_position = kind == FRAME_KIND_CREDIT, .position = position
    };
    caller_send (self->caller, &header, NULL, NULL, NULL);
}

static status_t
s_take_item (trial_t *self, generation_t *generation, const wire_message_t *message)
{
    generated_t item;
    status_t status = message_decode (&generated_message, wire_body (message), &self->arena, &item, self->note);
    if (status != STATUS_OK)
        return status;
    if (message->header.position != generation->count)
        return error_set (self->note, STATUS_CORRUPT, "an item has position %llu after %llu tokens",
            (unsigned long long)message->header.position, (unsigned long long)generation->count);
    if (item.tokens.count > TOKENS_MAX - generation->count)
        return error_set (self->note, STATUS_CORRUPT, "more tokens came than were asked for");
    for (size_t i = 0; i < item.tokens.count; i++)
        generation->tokens [generation->count++] = column_u32 (item.tokens, i);
    return STATUS_OK;
}

static status_t
s_take_end (trial_t *self, generation_t *generation, const wire_message_t *message)
{
    span_t body = arena_copy (&self->arena, wire_body (message));
    status_t status = message_decode (&generate_end_message, body, &self->arena, &generation->end, self->note);
    if (status == STATUS_OK && message->header.position != generation->count)
        status = error_set (self->note, STATUS_CORRUPT, "the end has position %llu after %llu tokens",
            (unsigned long long)message->header.position, (unsigned long long)generation->count);
    generation->ended = status == STATUS_OK;
    return status;
}

//  Takes what comes until the end, or until there are `until` tokens, or until nothing has come for a while (DEADLINE).
static status_t
s_follow (trial_t *self, generation_t *generation, uint64_t until, uint64_t timeout_ms)
{
    while (!generation->ended && generation->count < until) {
        wire_message_t message;
        status_t status = caller_answer (self->caller, generation->id, timeout_ms, &message, self->note);
        if (status == STATUS_OK && message.header.kind == FRAME_KIND_ITEM)
            status = s_take_item (self, generation, &message);
        else if (status == STATUS_OK && message.header.kind == FRAME_KIND_END)
            status = s_take_end (self, generation, &message);
        else if (status == STATUS_OK)
            status = error_set (self->note, STATUS_CORRUPT, "a message of kind %u in a stream", message.header.kind);
        if (status != STATUS_OK)
            return status;
    }
    return STATUS_OK;
}

//  Sends a body and expects an error of one of two kinds; anything else is a failure.
static check_result_t
s_expect_refusal (trial_t *self, uint64_t id, status_t one, status_t other)
{
    wire_message_t message;
    status_t status = caller_answer (self->caller, id, s_timeout (self), &message, self->note);
    if (status == STATUS_OK)
        return s_say (self, CHECK_FAILED, "it was answered as if nothing were wrong");
    self->said = true;
    if (status == one || status == other)
        return CHECK_PASSED;
    return s_say (self, CHECK_FAILED, "expected the error %s, got: %.300s", status_name (one), self->note->text);
}

//  ---- Checks: what every actor answers ------------------------------------------------------------------------------

static check_result_t
s_check_ping (trial_t *self)
{
    pong_t pong;
    if (s_ping (self, &pong) != STATUS_OK)
        return CHECK_FAILED;
    if (!pong.incarnation || !pong.address.size)
        return s_say (self, CHECK_FAILED, "the pong has no address or no incarnation");
    return s_say (
        self, CHECK_PASSED, "%.*s, incarnation %llu", SPAN_ARG (pong.address), (unsigned long long)pong.incarnation);
}

static check_result_t
s_check_status (trial_t *self)
{
    get_status_t request = { 0 };
    actor_status_t status;
    if (caller_call (self->caller, &get_status_message, &request, s_timeout (self), &self->arena, &status,
            self->note) != STATUS_OK)
        return CHECK_FAILED;
    for (size_t i = 0; i < status.methods_count; i++) {
        if (span_equal_string (status.methods [i], "generate"))
            return s_say (self, CHECK_PASSED, "%.*s", SPAN_ARG (status.state));
    }
    return s_say (self, CHECK_FAILED, "the methods it lists do not have generate among them");
}

static check_result_t
s_check_card (trial_t *self)
{
    const model_card_t *card = self->conformance->card;
    if (!card)
        return s_say (self, CHECK_SKIPPED, "the directory does not know this endpoint");
    if (!card->model.size || !card->block_size || !card->context || !card->ranks || !card->slots || !card->engine.size)
        return s_say (self, CHECK_FAILED, "model, block_size, context, ranks, slots and engine must all be there");
    if (!span_equal_string (card->tokenizing, "bytes") && !span_equal_string (card->tokenizing, "engine"))
        return s_say (
            self, CHECK_FAILED, "tokenizing is '%.*s', neither bytes nor engine", SPAN_ARG (card->tokenizing));
    return s_say (self, CHECK_PASSED, "%.*s on %.*s %.*s, blocks of %u tokens", SPAN_ARG (card->model),
        SPAN_ARG (card->engine), SPAN_ARG (card->engine_version), card->block_size);
}

//  A REQ socket of libzmq knows nothing of us: it sends an empty frame and its parts, and wants the same back.
static check_result_t
s_check_req (trial_t *self)
{
    buffer_t header = { 0 }, body = { 0 };
    int timeout_ms = (int)s_timeout (self), none = 0, parts = 0;
    frame_header_t call = {
        .version = WIRE_VERSION, .kind = FRAME_KIND_CALL, .id = 1, .has_method = true, .method = SPAN ("ping")
    };
    ping_t ping = { 0 };
    message_encode (&frame_header_message, &call, &header);
    message_encode (&ping_message, &ping, &body);
    void *socket = zmq_socket (caller_zmq (), ZMQ_REQ);
    zmq_setsockopt (socket, ZMQ_RCVTIMEO, &timeout_ms, sizeof timeout_ms);
    zmq_setsockopt (socket, ZMQ_LINGER, &none, sizeof none);
    bool sent = zmq_connect (socket, self->conformance->endpoint) == 0 &&
                zmq_send (socket, header.data, header.size, ZMQ_SNDMORE) >= 0 &&
                zmq_send (socket, body.data, body.size, 0) >= 0;
    uint8_t bytes [1024];
    while (sent && zmq_recv (socket, bytes, sizeof bytes, 0) >= 0) {
        int more = 0;
        size_t size = sizeof more;
        parts++;
        zmq_getsockopt (socket, ZMQ_RCVMORE, &more, &size);
        if (!more)
            break;
    }
    zmq_close (socket);
    buffer_fini (&header);
    buffer_fini (&body);
    return parts == 2 ? CHECK_PASSED
                      : s_say (self, CHECK_FAILED, "a plain REQ socket got %d parts instead of header and body", parts);
}

//  ---- Checks: what is wrong -----------------------------------------------------------------------------------------

static check_result_t
s_check_unknown_method (trial_t *self)
{
    static const message_type_t strange = { .name = "no_such_method", .kind = MESSAGE_CALL };
    uint64_t id = caller_start (self->caller, &strange, "", s_timeout (self), 0);
    return s_expect_refusal (self, id, STATUS_NOT_FOUND, STATUS_UNSUPPORTED);
}

static check_result_t
s_check_version (trial_t *self)
{
    ping_t ping = { 0 };
    frame_header_t header = { .version = WIRE_VERSION + 8,
        .kind = FRAME_KIND_CALL,
        .id = caller_next_id (self->caller),
        .has_method = true,
        .method = SPAN ("ping") };
    caller_send (self->caller, &header, &ping_message, &ping, NULL);
    check_result_t result = s_expect_refusal (self, header.id, STATUS_UNSUPPORTED, STATUS_UNSUPPORTED);
    return result == CHECK_PASSED ? s_still_there (self) : result;
}

//  Bytes that are no message, and what they pretend to be.
static const span_t s_garbage [] = {
    { (const uint8_t *)"", 0 },                        //  Nothing
    { (const uint8_t *)"\xc1", 1 },                    //  No type of MessagePack
    { (const uint8_t *)"\x81", 1 },                    //  A map that ends before it begins
    { (const uint8_t *)"\xdf\xff\xff\xff\xff", 5 },    //  A map of four billion entries
    { (const uint8_t *)"\xdd\xff\xff\xff\xff", 5 },    //  An array likewise
    { (const uint8_t *)"\xdb\xff\xff\xff\xff", 5 },    //  A string of four gigabytes
    { (const uint8_t *)"\x80\x80", 2 },                //  A map and something behind it
};

static check_result_t
s_check_bad_body (trial_t *self)
{
    for (size_t i = 0; i < sizeof s_garbage / sizeof *s_garbage; i++) {
        buffer_t bytes = { 0 };
        frame_header_t header = { .version = WIRE_VERSION,
            .kind = FRAME_KIND_CALL,
            .id = caller_next_id (self->caller),
            .has_method = true,
            .method = SPAN ("generate"),
            .has_position = true,
            .position = 1 };
        message_encode (&frame_header_message, &header, &bytes);
        span_t frames [] = { SPAN (""), buffer_span (&bytes), s_garbage [i] };
        caller_send_frames (self->caller, frames, 3, NULL);
        check_result_t result = s_expect_refusal (self, header.id, STATUS_INVALID, STATUS_CORRUPT);
        buffer_fini (&bytes);
        if (result != CHECK_PASSED)
            return result;
    }
    return s_still_there (self);
}

static check_result_t
s_check_bad_frames (trial_t *self)
{
    for (size_t i = 0; i < sizeof s_garbage / sizeof *s_garbage; i++) {
        span_t frames [] = { SPAN (""), s_garbage [i], SPAN ("x"), SPAN ("y") };
        caller_send_frames (self->caller, frames, 4, NULL);
        caller_send_frames (self->caller, frames, 1, NULL);
        caller_send_frames (self->caller, frames + 1, 1, NULL);
    }
    return s_still_there (self);
}

static check_result_t
s_check_no_tokens (trial_t *self)
{
    generate_t request = s_request (self, "conformance-empty", ASKED_TOKENS);
    request.tokens.count = 0;
    return s_expect_refusal (self, s_start (self, &request, ASKED_TOKENS), STATUS_INVALID, STATUS_LIMIT);
}

static check_result_t
s_check_wrong_model (trial_t *self)
{
    generate_t request = s_request (self, "conformance-model", ASKED_TOKENS);
    request.model = SPAN ("no/such/model");
    return s_expect_refusal (self, s_start (self, &request, ASKED_TOKENS), STATUS_NOT_FOUND, STATUS_INVALID);
}

static check_result_t
s_check_context (trial_t *self)
{
    const model_card_t *card = self->conformance->card;
    if (!card || card->context > 1 << 24)
        return s_say (self, CHECK_SKIPPED, "the context is not known from a card");
    generate_t request = s_request (self, "conformance-context", ASKED_TOKENS);
    uint32_t *tokens = memory_new ((card->context + 1) * sizeof *tokens);
    for (size_t i = 0; i <= card->context; i++)
        tokens [i] = self->prompt [i % PROMPT_TOKENS];
    request.tokens = column_of_u32 (tokens, card->context + 1);
    check_result_t result =
        s_expect_refusal (self, s_start (self, &request, ASKED_TOKENS), STATUS_LIMIT, STATUS_INVALID);
    memory_free (tokens);
    return result;
}

//  ---- Checks: generating --------------------------------------------------------------------------------------------

static check_result_t
s_check_generate (trial_t *self)
{
    generate_t request = s_request (self, "conformance-generate", ASKED_TOKENS);
    generation_t generation = { .id = s_start (self, &request, ASKED_TOKENS) };
    if (s_follow (self, &generation, UINT64_MAX, s_timeout (self)) != STATUS_OK)
        return CHECK_FAILED;
    const generate_end_t *end = &generation.end;
    if (end->reason != FINISH_REASON_LENGTH || generation.count != ASKED_TOKENS)
        return s_say (self, CHECK_FAILED, "asked for %u tokens past the end of sequence, got %llu and the reason %s",
            ASKED_TOKENS, (unsigned long long)generation.count, finish_reason_name (end->reason));
    if (end->completion_tokens != ASKED_TOKENS || end->prompt_tokens != PROMPT_TOKENS ||
        end->cached_tokens > end->prompt_tokens)
        return s_say (self, CHECK_FAILED, "the end counts %u prompt, %u cached and %u completion tokens",
            end->prompt_tokens, end->cached_tokens, end->completion_tokens);
    return CHECK_PASSED;
}

static check_result_t
s_check_credit (trial_t *self)
{
    generate_t request = s_request (self, "conformance-credit", ASKED_TOKENS);
    generation_t generation = { .id = s_start (self, &request, 0) };
    for (uint64_t credit = 0; credit < ASKED_TOKENS; credit += 2) {
        if (credit)
            s_send_plain (self, generation.id, FRAME_KIND_CREDIT, credit);
        if (s_follow (self, &generation, credit, s_timeout (self)) != STATUS_OK)
            return CHECK_FAILED;
        status_t status = s_follow (self, &generation, UINT64_MAX, QUIET_MS);
        if (status != STATUS_DEADLINE || generation.count != credit)
            return s_say (self, CHECK_FAILED, "with credit up to %llu it sent %llu tokens%s",
                (unsigned long long)credit, (unsigned long long)generation.count,
                status == STATUS_OK ? " and an end" : "");
    }
    s_send_plain (self, generation.id, FRAME_KIND_CREDIT, ASKED_TOKENS);
    s_send_plain (self, generation.id, FRAME_KIND_CREDIT, 1);
    return s_follow (self, &generation, UINT64_MAX, s_timeout (self)) == STATUS_OK ? CHECK_PASSED : CHECK_FAILED;
}

static check_result_t
s_check_cancel (trial_t *self)
{
    const model_card_t *card = self->conformance->card;
    uint32_t room = card && card->context > PROMPT_TOKENS + 1 ? card->context - PROMPT_TOKENS - 1 : LONG_TOKENS;
    generate_t request = s_request (self, "conformance-cancel", room < LONG_TOKENS ? room : LONG_TOKENS);
    generation_t generation = { .id = s_start (self, &request, 1) };
    if (s_follow (self, &generation, 1, s_timeout (self)) != STATUS_OK)
        return CHECK_FAILED;
    s_send_plain (self, generation.id, FRAME_KIND_CANCEL, 0);
    s_send_plain (self, generation.id, FRAME_KIND_CREDIT, LONG_TOKENS);
    uint64_t before = generation.count;
    s_follow (self, &generation, UINT64_MAX, QUIET_MS);
    if (generation.count > before + 1)
        return s_say (
            self, CHECK_FAILED, "%llu tokens came after the cancel", (unsigned long long)(generation.count - before));
    return s_still_there (self);
}

static check_result_t
s_check_resume (trial_t *self)
{
    uint32_t tokens [PROMPT_TOKENS + 4];
    generate_t request = s_request (self, "conformance-first", 4);
    generation_t first = { .id = s_start (self, &request, 4) };
    if (s_follow (self, &first, UINT64_MAX, s_timeout (self)) != STATUS_OK)
        return CHECK_FAILED;
    memcpy (tokens, self->prompt, sizeof self->prompt);
    memcpy (tokens + PROMPT_TOKENS, first.tokens, 4 * sizeof *tokens);
    request.request = SPAN ("conformance-resumed");
    request.tokens = column_of_u32 (tokens, PROMPT_TOKENS + 4);
    request.delivered = 4;
    generation_t second = { .id = s_start (self, &request, 4) };
    if (s_follow (self, &second, UINT64_MAX, s_timeout (self)) != STATUS_OK)
        return CHECK_FAILED;
    return second.count == 4
               ? CHECK_PASSED
               : s_say (self, CHECK_FAILED, "asked to go on by 4 tokens, got %llu", (unsigned long long)second.count);
}

static check_result_t
s_check_at_once (trial_t *self)
{
    generation_t *generations = memory_new (AT_ONCE * sizeof *generations);
    caller_t *callers [AT_ONCE] = { 0 };
    check_result_t result = CHECK_PASSED;
    caller_t *own = self->caller;
    for (size_t i = 0; i < AT_ONCE; i++) {
        char name [32];
        snprintf (name, sizeof name, "conformance-%zu", i);
        generate_t request = s_request (self, name, ASKED_TOKENS);
        callers [i] = self->caller = caller_new (self->conformance->endpoint, NULL);
        generations [i].id = s_start (self, &request, ASKED_TOKENS);
    }
    for (size_t i = 0; i < AT_ONCE; i++) {
        self->caller = callers [i];
        if (s_follow (self, &generations [i], UINT64_MAX, s_timeout (self)) != STATUS_OK ||
            generations [i].count != ASKED_TOKENS)
            result = CHECK_FAILED;
        caller_destroy (&callers [i]);
    }
    self->caller = own;
    memory_free (generations);
    return result;
}

//  The second time, the prompt should be found; a worker that says it publishes what it caches must find it.
static check_result_t
s_check_cache (trial_t *self)
{
    const model_card_t *card = self->conformance->card;
    if (!card || !card->kv_events || card->block_size > PROMPT_TOKENS / 2)
        return s_say (self, CHECK_SKIPPED,
            "it does not say that it publishes what it caches, or its blocks are larger than the prompt");
    uint32_t cached = 0;
    for (int i = 0; i < 2; i++) {
        generate_t request = s_request (self, i ? "conformance-again" : "conformance-once", 1);
        generation_t generation = { .id = s_start (self, &request, 1) };
        if (s_follow (self, &generation, UINT64_MAX, s_timeout (self)) != STATUS_OK)
            return CHECK_FAILED;
        cached = generation.end.cached_tokens;
    }
    if (cached < card->block_size)
        return s_say (self, CHECK_FAILED, "a prompt of %u tokens came twice, and only %u were found in the cache",
            PROMPT_TOKENS, cached);
    return s_say (self, CHECK_PASSED, "%u of %u tokens were found", cached, PROMPT_TOKENS);
}

static check_result_t
s_check_tokenize (trial_t *self)
{
    const model_card_t *card = self->conformance->card;
    tokenize_t request = { .model = self->conformance->model, .text = SPAN ("Hello, world") };
    tokenize_reply_t reply;
    if (!card || !span_equal_string (card->tokenizing, "engine"))
        return s_say (self, CHECK_SKIPPED, "its card does not say that it tokenises");
    if (caller_call (self->caller, &tokenize_message, &request, s_timeout (self), &self->arena, &reply, self->note) !=
        STATUS_OK)
        return CHECK_FAILED;
    return reply.tokens.count ? CHECK_PASSED : s_say (self, CHECK_FAILED, "a text of 12 bytes has no tokens");
}

//  What a worker gives of its model.
typedef struct {
    uint64_t id;                      //  Of the stream
    buffer_t files [BUNDLE_FILES];    //  So far
    uint64_t count;                   //  Bytes of them
    uint64_t credit;                  //  What it was allowed
    bool ended;                       //  The end is there
} fetched_t;

static status_t
s_take_part (trial_t *self, fetched_t *fetched, const wire_message_t *message)
{
    model_part_t part;
    status_t status = message_decode (&model_part_message, wire_body (message), &self->arena, &part, self->note);
    if (status != STATUS_OK)
        return status;
    if (message->header.position != fetched->count)
        return error_set (self->note, STATUS_CORRUPT, "an item has position %llu after %llu bytes",
            (unsigned long long)message->header.position, (unsigned long long)fetched->count);
    if (part.bytes.size > fetched->credit - fetched->count)
        return error_set (self->note, STATUS_CORRUPT, "more bytes came than there was credit for");
    buffer_append (&fetched->files [part.file], part.bytes);
    fetched->count += part.bytes.size;
    fetched->credit = fetched->count + FILES_WINDOW;
    s_send_plain (self, fetched->id, FRAME_KIND_CREDIT, fetched->credit);
    return STATUS_OK;
}

//  Takes the files until the end.
static status_t
s_fetch (trial_t *self, fetched_t *fetched)
{
    status_t status = STATUS_OK;
    while (!status && !fetched->ended) {
        wire_message_t message;
        status = caller_answer (self->caller, fetched->id, s_timeout (self), &message, self->note);
        if (!status && message.header.kind == FRAME_KIND_ITEM)
            status = s_take_part (self, fetched, &message);
        else if (!status)
            fetched->ended = true;
        if (!status && fetched->count > FILES_MAX)
            status = error_set (self->note, STATUS_LIMIT, "more than %d bytes came", FILES_MAX);
    }
    return status;
}

static check_result_t
s_check_fetched (trial_t *self, const fetched_t *fetched)
{
    span_t files [BUNDLE_FILES];
    for (size_t i = 0; i < BUNDLE_FILES; i++)
        files [i] = buffer_span (&fetched->files [i]);
    if (bundle_fingerprint (files) != self->conformance->card->files)
        return s_say (self, CHECK_FAILED, "the %llu bytes that came are not those whose hash its card has",
            (unsigned long long)fetched->count);
    return s_say (self, CHECK_PASSED, "%llu bytes", (unsigned long long)fetched->count);
}

static check_result_t
s_check_files (trial_t *self)
{
    const model_card_t *card = self->conformance->card;
    if (!card || !card->has_files)
        return s_say (self, CHECK_SKIPPED, "its card does not say that it has files of its model");
    fetch_model_t request = { .model = self->conformance->model, .files = card->files + 1 };
    uint64_t other = caller_start (self->caller, &fetch_model_message, &request, s_timeout (self), FILES_WINDOW);
    check_result_t result = s_expect_refusal (self, other, STATUS_NOT_FOUND, STATUS_NOT_FOUND);
    if (result != CHECK_PASSED)
        return result;
    fetched_t fetched = { .credit = FILES_WINDOW };
    request.files = card->files;
    fetched.id = caller_start (self->caller, &fetch_model_message, &request, s_timeout (self), FILES_WINDOW);
    result = s_fetch (self, &fetched) == STATUS_OK ? s_check_fetched (self, &fetched) : CHECK_FAILED;
    for (size_t i = 0; i < BUNDLE_FILES; i++)
        buffer_fini (&fetched.files [i]);
    return result;
}

static check_result_t
s_check_drain (trial_t *self)
{
    drain_t drain = { 0 };
    drain_reply_t reply;
    if (!self->conformance->drain)
        return s_say (self, CHECK_SKIPPED, "it would end the worker: ask for it with --drain");
    if (caller_call (self->caller, &drain_message, &drain, s_timeout (self), &self->arena, &reply, self->note) !=
        STATUS_OK)
        return CHECK_FAILED;
    generate_t request = s_request (self, "conformance-late", 1);
    wire_message_t message;
    status_t status = caller_answer (self->caller, s_start (self, &request, 1), QUIET_MS, &message, self->note);
    return status == STATUS_OK ? s_say (self, CHECK_FAILED, "it took new work while draining") : CHECK_PASSED;
}

//  ---- The table -----------------------------------------------------------------------------------------------------

static const struct {
    check_t check;                            //  What it is called and claims
    check_result_t (*run) (trial_t *self);    //  Does it
} s_checks [] = {
    { { "ping", "answers a ping with its address and incarnation" }, s_check_ping },
    { { "status", "says how it is, and lists generate among its methods" }, s_check_status },
    { { "card", "has registered a card that says what it serves" }, s_check_card },
    { { "req", "can be called from a plain REQ socket" }, s_check_req },
    { { "unknown_method", "refuses a method it does not have" }, s_check_unknown_method },
    { { "version", "refuses a protocol version it does not speak" }, s_check_version },
    { { "bad_body", "refuses bodies that are no messages, whatever length they claim" }, s_check_bad_body },
    { { "bad_frames", "outlives frames that are no messages at all" }, s_check_bad_frames },
    { { "no_tokens", "refuses an empty prompt" }, s_check_no_tokens },
    { { "wrong_model", "refuses a model it does not serve" }, s_check_wrong_model },
    { { "context", "refuses a prompt longer than its context" }, s_check_context },
    { { "generate", "generates what was asked for and counts it" }, s_check_generate },
    { { "credit", "sends up to the credit and not beyond" }, s_check_credit },
    { { "cancel", "stops when nobody wants the answer any more" }, s_check_cancel },
    { { "resume", "goes on from output that is already there" }, s_check_resume },
    { { "at_once", "serves several requests at once" }, s_check_at_once },
    { { "cache", "finds a prompt again that it has just computed" }, s_check_cache },
    { { "tokenize", "tokenises where its card says so" }, s_check_tokenize },
    { { "files", "gives the files of its model, whole, where its card says that it has them" }, s_check_files },
    { { "drain", "takes no new work while draining" }, s_check_drain },
};

size_t
conformance_count (void)
{
    return sizeof s_checks / sizeof *s_checks;
}

const check_t *
conformance_check (size_t position)
{
    return &s_checks [position].check;
}

check_result_t
conformance_run (const conformance_t *self, size_t position, error_t *note)
{
    trial_t *trial = memory_new (sizeof *trial);
    error_clear (note);
    note->text [0] = 0;
    trial->conformance = self;
    trial->note = note;
    arena_init (&trial->arena, ARENA_MAX);
    for (size_t i = 0; i < PROMPT_TOKENS; i++)
        trial->prompt [i] = (uint32_t)(' ' + (i * 7 + position) % 90);
    trial->caller = caller_new (self->endpoint, note);
    check_result_t result = trial->caller ? s_checks [position].run (trial) : CHECK_FAILED;
    if (result == CHECK_PASSED && !trial->said)
        note->text [0] = 0;
    caller_destroy (&trial->caller);
    arena_fini (&trial->arena);
    memory_free (trial);
    return result;
}
