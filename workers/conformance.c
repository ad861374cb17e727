//  A check is a row of s_checks: a name and the function that begins it.  It goes on in the callbacks of its calls, streams
//  and its one timer, until s_verdict; what is still open then is dropped, and the next check begins.  A check that says
//  nothing for too long has failed.

#include "workers/conformance.h"

#include <stdarg.h>
#include <stdio.h>

#include "base/memory.h"
#include "runtime/stream.h"
#include "runtime/timer.h"
#include "schemas/route.h"
#include "schemas/status.h"
#include "schemas/worker.h"

enum {
    TALKS_MAX = 64,
    ADDRESS_SIZE = 256,
    PLENTY = 1 << 20,
    WHOLE = 12,
    RESUMED = 5,
    REFUSALS = 5,
    CHECKS = 13,
    ATTEMPTS = 30
};

static const uint64_t SECOND = 1000000000, PATIENCE = UINT64_C (120000000000);

typedef struct conformance conformance_t;
typedef struct talk talk_t;
typedef void (talk_fn) (conformance_t *self, talk_t *talk);

//  One generate stream.
struct talk {
    stream_t stream;         //  To the worker
    conformance_t *owner;    //  Whose it is
    array_t tokens;          //  uint32_t
    size_t text;             //  Bytes
    uint64_t begun_ns;       //  When it was opened
    uint64_t first_ns;       //  When its first token came; 0: not yet
    bool replied;            //  It ended well
    status_t status;         //  Else why not
    generate_end_t end;      //  Where it replied; lists are not to be used
    talk_fn *on_token;       //  For each item; NULL: nobody asks
    talk_fn *on_end;         //  At the end
};

struct conformance {
    actor_t *actor;                   //  Whose state this is
    conformance_options_t options;    //  As given; the address is in `address`
    char address [ADDRESS_SIZE];      //  Of the worker
    size_t check;                     //  The one under way
    const char *lacking;              //  Essential check that failed; NULL: none
    uint32_t attempts;                //  To find the worker
    uint32_t failed;                  //  So many have
    actor_timer_t timer;              //  Of the check
    actor_timer_t patience;           //  How long it may take
    actor_timer_t next;               //  Begins the next one
    call_t call;                      //  Its one call
    talk_t talks [TALKS_MAX];         //  Its streams
    size_t talk_count;                //  How many
    arena_t card_memory;              //  Lists of the card
    buffer_t card_bytes;              //  The card, encoded
    model_card_t card;                //  Decoded from them
    buffer_t prompt;                  //  Tokens of the test's prompt, packed
    array_t whole;                    //  uint32_t: what the whole generation said
    size_t refusal;                   //  Which of the bad requests is under way
    uint64_t slot_ns;                 //  How long a first token takes on an idle worker
};

typedef struct {
    const char *name;                       //  For the verdict
    void (*begin) (conformance_t *self);    //  Asks the first thing
    bool essential;                         //  Without it nothing further can be asked
    bool drains;                            //  Only where draining is wanted
} check_t;

static const check_t s_checks [CHECKS];
static void s_begin_next (void *state, actor_t *actor, void *arg);

//  ---- Verdicts ------------------------------------------------------------------------------------------------------------

static void
s_drop_talks (conformance_t *self)
{
    for (size_t i = 0; i < self->talk_count; i++) {
        stream_cancel (&self->talks [i].stream);
        stream_drop (&self->talks [i].stream);
        array_fini (&self->talks [i].tokens);
    }
    self->talk_count = 0;
}

//  The first verdict counts: other streams of the check may still say something.
static void
s_conclude (conformance_t *self, verdict_t verdict, const char *sentence)
{
    if (timer_is_running (&self->next))
        return;
    timer_stop (&self->timer);
    timer_stop (&self->patience);
    call_drop (&self->call);
    self->failed += verdict == VERDICT_FAILED;
    if (verdict == VERDICT_FAILED && s_checks [self->check].essential)
        self->lacking = s_checks [self->check].name;
    self->options.on_verdict (self->options.arg, s_checks [self->check].name, verdict, sentence);
    self->check++;
    timer_start (&self->next, self->actor, 0, s_begin_next, NULL);
}

static void __attribute__ ((format (printf, 3, 4)))
s_verdict (conformance_t *self, verdict_t verdict, const char *format, ...)
{
    char sentence [512];
    va_list arguments;
    va_start (arguments, format);
    vsnprintf (sentence, sizeof sentence, format, arguments);
    va_end (arguments);
    s_conclude (self, verdict, sentence);
}

static void
s_pass (conformance_t *self)
{
    s_conclude (self, VERDICT_PASSED, "");
}

static void
s_on_impatience (void *state, actor_t *actor, void *arg)
{
    s_verdict (state, VERDICT_FAILED, "it has not answered for %llu s", (unsigned long long)(PATIENCE / SECOND));
}

static void
s_begin_next (void *state, actor_t *actor, void *arg)
{
    conformance_t *self = state;
    s_drop_talks (self);
    const check_t *check = &s_checks [self->check];
    if (self->check == CHECKS) {
        self->options.on_done (self->options.arg, self->failed);
        return;
    }
    if (self->lacking) {
        s_verdict (self, VERDICT_SKIPPED, "there was no %s", self->lacking);
        return;
    }
    if (check->drains && !self->options.drains) {
        s_verdict (self, VERDICT_SKIPPED, "was not asked for: the worker takes no work afterwards");
        return;
    }
    timer_start (&self->patience, actor, PATIENCE, s_on_impatience, NULL);
    check->begin (self);
}

//  ---- Asking --------------------------------------------------------------------------------------------------------------

static void
s_call (conformance_t *self, const message_type_t *type, const void *request, call_done_fn *done)
{
    call_start (&self->call, self->actor, span_from_string (self->address), type, request, PATIENCE, done, self);
}

//  False where there is no reply, which is then the verdict.
static bool
s_replied (conformance_t *self, call_result_t result)
{
    if (result == CALL_REPLIED)
        return true;
    s_verdict (
        self, VERDICT_FAILED, "%s", result == CALL_FAILED ? call_error (&self->call)->text : "no answer in time");
    return false;
}

static uint64_t
s_on_item (void *state, void *arg, uint64_t position, const void *message)
{
    talk_t *talk = arg;
    const generated_t *item = message;
    if (!talk->first_ns && item->tokens.count)
        talk->first_ns = actor_now (talk->owner->actor);
    for (size_t i = 0; i < item->tokens.count; i++)
        array_append (&talk->tokens, &(uint32_t){ column_u32 (item->tokens, i) }, 1);
    talk->text += item->text.size;
    if (talk->on_token)
        talk->on_token (talk->owner, talk);
    return item->tokens.count;
}

static void
s_on_end (void *state, void *arg, call_result_t result, const void *message)
{
    talk_t *talk = arg;
    talk->replied = result == CALL_REPLIED;
    talk->status = talk->replied ? STATUS_OK : stream_error (&talk->stream)->status;
    if (message)
        talk->end = *(const generate_end_t *)message;
    if (talk->on_end)
        talk->on_end (talk->owner, talk);
}

static generate_t
s_request (const conformance_t *self, uint32_t max_tokens)
{
    return (generate_t){
        .request = SPAN ("conformance"),
        .model = self->card.model,
        .tokens = { self->prompt.data, self->prompt.size / sizeof (uint32_t) },
        .sampling = { .has_max_tokens = true,
            .max_tokens = max_tokens,
            .has_temperature = true,
            .has_seed = true,
            .seed = 1,
            .has_ignore_eos = true,
            .ignore_eos = true },
    };
}

static talk_t *
s_generate (conformance_t *self, const generate_t *request, uint64_t credit, talk_fn *on_token, talk_fn *on_end)
{
    talk_t *talk = &self->talks [self->talk_count++];
    *talk = (talk_t){ .owner = self, .begun_ns = actor_now (self->actor), .on_token = on_token, .on_end = on_end };
    array_init (&talk->tokens, sizeof (uint32_t));
    stream_options_t options = { .on_item = s_on_item, .on_end = s_on_end, .credit = credit };
    stream_open (
        &talk->stream, self->actor, span_from_string (self->address), &generate_message, request, &options, talk);
    return talk;
}

static void
s_after (conformance_t *self, uint64_t delay_ns, actor_timer_fn *then)
{
    timer_start (&self->timer, self->actor, delay_ns, then, NULL);
}

//  True where the stream ended well; else the verdict is given.
static bool
s_ended_well (conformance_t *self, const talk_t *talk)
{
    if (!talk->replied)
        s_verdict (self, VERDICT_FAILED, "the generation failed: %s", stream_error (&talk->stream)->text);
    return talk->replied;
}

//  ---- ping, status, card --------------------------------------------------------------------------------------------------

static void s_begin_ping (conformance_t *self);

static void
s_on_retry (void *state, actor_t *actor, void *arg)
{
    s_begin_ping (state);
}

//  The directory may not have come yet.
static void
s_on_pong (void *state, void *arg, call_result_t result, const void *message)
{
    conformance_t *self = arg;
    const pong_t *pong = message;
    if (result == CALL_FAILED && call_error (&self->call)->status == STATUS_UNREACHABLE &&
        self->attempts++ < ATTEMPTS) {
        s_after (self, SECOND / 10, s_on_retry);
        return;
    }
    if (!s_replied (self, result))
        return;
    if (!span_starts_with (pong->address, SPAN ("worker/")) || pong->incarnation == 0)
        s_verdict (self, VERDICT_FAILED, "it calls itself \"%.*s\", incarnation %llu", SPAN_ARG (pong->address),
            (unsigned long long)pong->incarnation);
    else
        s_pass (self);
}

static void
s_begin_ping (conformance_t *self)
{
    s_call (self, &ping_message, &(ping_t){ 0 }, s_on_pong);
}

static void
s_on_status (void *state, void *arg, call_result_t result, const void *message)
{
    conformance_t *self = arg;
    const actor_status_t *status = message;
    if (!s_replied (self, result))
        return;
    bool generates = false;
    for (size_t i = 0; i < status->methods_count; i++)
        generates = generates || span_equal_string (status->methods [i], "generate");
    if (!span_equal_string (status->state, "ready"))
        s_verdict (self, VERDICT_FAILED, "it is %.*s", SPAN_ARG (status->state));
    else if (!generates)
        s_verdict (self, VERDICT_FAILED, "it does not list the method generate");
    else
        s_pass (self);
}

static void
s_begin_status (conformance_t *self)
{
    s_call (self, &get_status_message, &(get_status_t){ 0 }, s_on_status);
}

//  What is wrong with a card; NULL: nothing.
static const char *
s_card_fault (const model_card_t *card)
{
    bool bytes = span_equal_string (card->tokenizing, "bytes"), engine = span_equal_string (card->tokenizing, "engine");
    if (!card->model.size)
        return "the model has no name";
    if (!card->engine.size)
        return "the engine has no name";
    if (card->block_size == 0 || card->block_size > 16384)
        return "a block has 1 to 16384 tokens";
    if (card->context < 2)
        return "the context has no room for a prompt and a token";
    if (card->ranks == 0 || card->slots == 0 || card->capacity == 0)
        return "ranks, slots and capacity are at least 1";
    return bytes || engine ? NULL : "tokenizing is neither bytes nor engine";
}

static void
s_on_card (void *state, void *arg, call_result_t result, const void *message)
{
    conformance_t *self = arg;
    if (!s_replied (self, result))
        return;
    const model_card_t *card = &((const get_card_reply_t *)message)->card;
    const char *fault = s_card_fault (card);
    buffer_clear (&self->card_bytes);
    model_card_encode (card, &self->card_bytes);
    if (model_card_decode (&self->card, buffer_span (&self->card_bytes), &self->card_memory, NULL) && !fault)
        fault = "it is larger than a directory entry may hold";
    if (fault)
        s_verdict (self, VERDICT_FAILED, "the card: %s", fault);
    else
        s_pass (self);
}

static void
s_begin_card (conformance_t *self)
{
    s_call (self, &get_card_message, &(get_card_t){ 0 }, s_on_card);
}

//  ---- tokens --------------------------------------------------------------------------------------------------------------

static const char s_text [] =
    "Once upon a time there was a worker that did what it was asked to do, no more and no less.";

static bool
s_tokenizes_bytes (const conformance_t *self)
{
    return span_equal_string (self->card.tokenizing, "bytes");
}

static void
s_on_tokenized (void *state, void *arg, call_result_t result, const void *message)
{
    conformance_t *self = arg;
    const tokenize_reply_t *reply = message;
    if (!s_replied (self, result))
        return;
    buffer_clear (&self->prompt);
    buffer_append (&self->prompt, span_of (reply->tokens.data, reply->tokens.count * sizeof (uint32_t)));
    if (reply->tokens.count)
        s_pass (self);
    else
        s_verdict (self, VERDICT_FAILED, "it makes no token of %zu bytes of text", sizeof s_text - 1);
}

static void
s_on_rendered (void *state, void *arg, call_result_t result, const void *message)
{
    conformance_t *self = arg;
    const render_reply_t *reply = message;
    if (!s_replied (self, result))
        return;
    tokenize_t ask = { .model = self->card.model, .text = reply->prompt };
    s_call (self, &tokenize_message, &ask, s_on_tokenized);
}

//  A card that says so renders and tokenises; the others' tokens are bytes.
static void
s_begin_tokens (conformance_t *self)
{
    if (s_tokenizes_bytes (self)) {
        for (size_t i = 0; i < sizeof s_text - 1; i++)
            buffer_append_u32_le (&self->prompt, (uint8_t)s_text [i]);
        s_pass (self);
        return;
    }
    buffer_t conversation = { 0 };
    buffer_print (&conversation, "{\"messages\":[{\"role\":\"user\",\"content\":\"%s\"}]}", s_text);
    render_t ask = { .model = self->card.model, .request = buffer_span (&conversation) };
    s_call (self, &render_message, &ask, s_on_rendered);
    buffer_fini (&conversation);
}

//  ---- generate ------------------------------------------------------------------------------------------------------------

//  What is wrong with a whole answer; NULL: nothing.
static const char *
s_answer_fault (const conformance_t *self, const talk_t *talk, size_t expected)
{
    if (talk->tokens.count != expected)
        return "it sent another number of tokens than it was asked for";
    if (talk->end.completion_tokens != expected)
        return "it counts other tokens than it sent";
    if (talk->end.reason != FINISH_REASON_LENGTH)
        return "it did not end for its length, though nothing else could end it";
    if (talk->end.cached_tokens > talk->end.prompt_tokens)
        return "more of the prompt was cached than there was";
    if (self->card.sends_text && talk->text == 0)
        return "its card says that items carry text, but none did";
    return NULL;
}

static void
s_on_whole (conformance_t *self, talk_t *talk)
{
    if (!s_ended_well (self, talk))
        return;
    const char *fault = s_answer_fault (self, talk, WHOLE);
    if (!fault && talk->end.prompt_tokens != self->prompt.size / sizeof (uint32_t))
        fault = "it counts another prompt than it was sent";
    array_cut (&self->whole, 0);
    array_append (&self->whole, talk->tokens.data, talk->tokens.count);
    self->slot_ns = talk->first_ns - talk->begun_ns;
    if (fault)
        s_verdict (self, VERDICT_FAILED, "%s", fault);
    else
        s_pass (self);
}

static void
s_begin_generate (conformance_t *self)
{
    generate_t request = s_request (self, WHOLE);
    s_generate (self, &request, PLENTY, NULL, s_on_whole);
}

//  ---- cache ---------------------------------------------------------------------------------------------------------------

static void
s_on_again (conformance_t *self, talk_t *talk)
{
    if (!s_ended_well (self, talk))
        return;
    if (talk->end.cached_tokens < self->card.block_size)
        s_verdict (
            self, VERDICT_FAILED, "of a prompt that it has just computed it found %u tokens", talk->end.cached_tokens);
    else
        s_pass (self);
}

static void
s_begin_cache (conformance_t *self)
{
    if (self->prompt.size / sizeof (uint32_t) <= self->card.block_size) {
        s_verdict (self, VERDICT_SKIPPED, "a block is longer than the prompt of this check");
        return;
    }
    generate_t request = s_request (self, 1);
    s_generate (self, &request, PLENTY, NULL, s_on_again);
}

//  ---- credit --------------------------------------------------------------------------------------------------------------

enum { CREDIT_FIRST = 3, CREDIT_THEN = 8, CREDIT_ALL = 20 };

static bool
s_has_exactly (conformance_t *self, size_t count)
{
    const talk_t *talk = &self->talks [0];
    if (talk->tokens.count != count)
        s_verdict (self, VERDICT_FAILED, "with a credit of %zu it sent %zu tokens", count, talk->tokens.count);
    return talk->tokens.count == count;
}

static void
s_on_credit_end (conformance_t *self, talk_t *talk)
{
    if (s_ended_well (self, talk) && s_has_exactly (self, CREDIT_ALL))
        s_pass (self);
}

static void
s_after_then (void *state, actor_t *actor, void *arg)
{
    conformance_t *self = state;
    if (s_has_exactly (self, CREDIT_THEN))
        stream_credit (&self->talks [0].stream, PLENTY);
}

static void
s_after_first (void *state, actor_t *actor, void *arg)
{
    conformance_t *self = state;
    if (!s_has_exactly (self, CREDIT_FIRST))
        return;
    stream_credit (&self->talks [0].stream, CREDIT_THEN);
    s_after (self, 2 * SECOND, s_after_then);
}

static void
s_on_credit_token (conformance_t *self, talk_t *talk)
{
    if (talk->tokens.count == CREDIT_FIRST && !timer_is_running (&self->timer))
        s_after (self, 2 * SECOND, s_after_first);
}

static void
s_begin_credit (conformance_t *self)
{
    generate_t request = s_request (self, CREDIT_ALL);
    s_generate (self, &request, CREDIT_FIRST, s_on_credit_token, s_on_credit_end);
}

//  ---- cancel --------------------------------------------------------------------------------------------------------------

static void
s_on_free_slot (conformance_t *self, talk_t *talk)
{
    uint64_t took = talk->first_ns - talk->begun_ns;
    if (took > self->slot_ns + SECOND)
        s_verdict (self, VERDICT_FAILED, "%llu ms after a cancel its slot was still not free",
            (unsigned long long)(took / 1000000));
    else
        s_pass (self);
}

//  All slots are taken: give them back, and ask for one.
static void
s_on_taken (conformance_t *self, talk_t *talk)
{
    size_t taken = 0;
    for (size_t i = 0; i < self->talk_count; i++)
        taken += self->talks [i].first_ns != 0;
    if (taken < self->talk_count)
        return;
    for (size_t i = 0; i < self->talk_count; i++) {
        self->talks [i].on_token = self->talks [i].on_end = NULL;
        stream_cancel (&self->talks [i].stream);
    }
    generate_t request = s_request (self, 1);
    s_generate (self, &request, PLENTY, s_on_free_slot, NULL);
}

static void
s_on_early_end (conformance_t *self, talk_t *talk)
{
    s_verdict (self, VERDICT_FAILED, "a long generation ended before it was cancelled: %s",
        talk->replied ? "it says that it is whole" : stream_error (&talk->stream)->text);
}

//  Tokens of an answer as long as may be, when so many of them are to fit at once.
static uint32_t
s_long (const conformance_t *self, size_t answers)
{
    uint64_t prompt = self->prompt.size / sizeof (uint32_t);
    uint64_t room = self->card.capacity * self->card.block_size / answers;
    room = room < self->card.context ? room : self->card.context;
    uint64_t needed = prompt + self->card.block_size;
    return room > needed + 1 ? (uint32_t)(room - needed) : 1;
}

static void
s_begin_cancel (conformance_t *self)
{
    size_t slots = self->card.slots < TALKS_MAX ? self->card.slots : TALKS_MAX - 1;
    generate_t request = s_request (self, s_long (self, slots));
    for (size_t i = 0; i < slots; i++)
        s_generate (self, &request, 1, s_on_taken, s_on_early_end);
}

//  ---- resume --------------------------------------------------------------------------------------------------------------

static void
s_on_resumed (conformance_t *self, talk_t *talk)
{
    if (!s_ended_well (self, talk))
        return;
    const char *fault = s_answer_fault (self, talk, WHOLE - RESUMED);
    if (fault)
        s_verdict (self, VERDICT_FAILED, "%s", fault);
    else
        s_pass (self);
}

static void
s_begin_resume (conformance_t *self)
{
    if (self->whole.count < WHOLE) {
        s_verdict (self, VERDICT_SKIPPED, "there is no whole generation to go on with");
        return;
    }
    buffer_t tokens = { 0 };
    buffer_append (&tokens, buffer_span (&self->prompt));
    buffer_append (&tokens, span_of (self->whole.data, RESUMED * sizeof (uint32_t)));
    generate_t request = s_request (self, WHOLE - RESUMED);
    request.tokens = (column_t){ tokens.data, tokens.size / sizeof (uint32_t) };
    request.delivered = RESUMED;
    s_generate (self, &request, PLENTY, NULL, s_on_resumed);
    buffer_fini (&tokens);
}

//  ---- refusals ------------------------------------------------------------------------------------------------------------

static void
s_on_overlong (conformance_t *self, talk_t *talk)
{
    if (talk->replied || talk->status != STATUS_LIMIT)
        s_verdict (self, VERDICT_FAILED, "a prompt as long as the context got \"%s\" instead of limit",
            status_name (talk->status));
    else
        s_pass (self);
}

static void
s_begin_overlong (conformance_t *self)
{
    if (self->card.context > PLENTY) {
        s_verdict (self, VERDICT_SKIPPED, "the context is too long to be filled here");
        return;
    }
    buffer_t tokens = { 0 };
    size_t count = self->prompt.size / sizeof (uint32_t);
    for (size_t i = 0; i < self->card.context; i++)
        buffer_append_u32_le (&tokens, column_u32 ((column_t){ self->prompt.data, count }, i % count));
    generate_t request = s_request (self, 1);
    request.tokens = (column_t){ tokens.data, self->card.context };
    s_generate (self, &request, PLENTY, NULL, s_on_overlong);
    buffer_fini (&tokens);
}

static void s_ask_refusal (conformance_t *self);

static const char *const s_refusals [REFUSALS] = { "a prompt without tokens", "a max_tokens of 0",
    "a model that nobody has", "more earlier output than tokens", "a rank that is not there" };

static void
s_on_refused (conformance_t *self, talk_t *talk)
{
    if (talk->replied || (talk->status != STATUS_INVALID && talk->status != STATUS_NOT_FOUND))
        s_verdict (self, VERDICT_FAILED, "%s got \"%s\"", s_refusals [self->refusal], status_name (talk->status));
    else if (++self->refusal == REFUSALS)
        s_pass (self);
    else
        s_ask_refusal (self);
}

static void
s_ask_refusal (conformance_t *self)
{
    generate_t request = s_request (self, 1);
    switch (self->refusal) {
    case 0:
        request.tokens.count = 0;
        break;
    case 1:
        request.sampling.max_tokens = 0;
        break;
    case 2:
        request.model = SPAN ("a model that nobody has");
        break;
    case 3:
        request.delivered = (uint32_t)request.tokens.count;
        break;
    default:
        request.rank = self->card.ranks;
        break;
    }
    s_generate (self, &request, PLENTY, NULL, s_on_refused);
}

static void
s_begin_bad_input (conformance_t *self)
{
    self->refusal = 0;
    s_ask_refusal (self);
}

static void
s_on_unknown_method (void *state, void *arg, call_result_t result, const void *message)
{
    conformance_t *self = arg;
    if (result == CALL_FAILED && call_error (&self->call)->status == STATUS_NOT_FOUND)
        s_pass (self);
    else
        s_verdict (self, VERDICT_FAILED, "a method that no worker has was not answered with not_found");
}

static void
s_begin_unknown_method (conformance_t *self)
{
    s_call (self, &route_progress_message, &(route_progress_t){ 0 }, s_on_unknown_method);
}

//  ---- drain ---------------------------------------------------------------------------------------------------------------

enum { DRAIN_TOKENS = 40 };

static void
s_on_drained_end (conformance_t *self, talk_t *talk)
{
    if (!s_ended_well (self, talk))
        return;
    if (talk->tokens.count != DRAIN_TOKENS)
        s_verdict (self, VERDICT_FAILED, "what ran when it was drained ended after %zu of %d tokens",
            talk->tokens.count, DRAIN_TOKENS);
    else
        s_pass (self);
}

static void
s_on_new_work (conformance_t *self, talk_t *talk)
{
    if (talk->replied || (talk->status != STATUS_AGAIN && talk->status != STATUS_UNREACHABLE))
        s_verdict (self, VERDICT_FAILED, "new work for a draining worker got \"%s\" instead of again",
            status_name (talk->status));
    else
        stream_credit (&self->talks [0].stream, PLENTY);
}

static void
s_on_draining (void *state, void *arg, call_result_t result, const void *message)
{
    conformance_t *self = arg;
    if (!s_replied (self, result))
        return;
    generate_t request = s_request (self, 1);
    s_generate (self, &request, PLENTY, NULL, s_on_new_work);
}

static void
s_on_drain_token (conformance_t *self, talk_t *talk)
{
    talk->on_token = NULL;
    s_call (self, &drain_message, &(drain_t){ 0 }, s_on_draining);
}

static void
s_begin_drain (conformance_t *self)
{
    generate_t request = s_request (self, DRAIN_TOKENS);
    s_generate (self, &request, 1, s_on_drain_token, s_on_drained_end);
}

//  ---- The actor -----------------------------------------------------------------------------------------------------------

static const check_t s_checks [CHECKS] = {
    { "ping", s_begin_ping, true, false },
    { "status", s_begin_status, true, false },
    { "card", s_begin_card, true, false },
    { "tokens", s_begin_tokens, true, false },
    { "generate", s_begin_generate, false, false },
    { "cache", s_begin_cache, false, false },
    { "credit", s_begin_credit, false, false },
    { "cancel", s_begin_cancel, false, false },
    { "resume", s_begin_resume, false, false },
    { "over-long prompt", s_begin_overlong, false, false },
    { "bad input", s_begin_bad_input, false, false },
    { "unknown method", s_begin_unknown_method, false, false },
    { "drain", s_begin_drain, false, true },
};

static status_t
s_init (void *state, actor_t *actor, const void *options, error_t *error)
{
    conformance_t *self = state;
    self->actor = actor;
    self->options = *(const conformance_options_t *)options;
    if (!span_copy_string (self->options.worker, self->address, sizeof self->address))
        return error_set (error, STATUS_LIMIT, "the worker's address is longer than %d bytes", ADDRESS_SIZE - 1);
    arena_init (&self->card_memory, 1 << 20);
    array_init (&self->whole, sizeof (uint32_t));
    timer_start (&self->next, actor, 0, s_begin_next, NULL);
    return STATUS_OK;
}

static void
s_fini (void *state, actor_t *actor)
{
    conformance_t *self = state;
    timer_stop (&self->timer);
    timer_stop (&self->patience);
    timer_stop (&self->next);
    call_drop (&self->call);
    s_drop_talks (self);
    arena_fini (&self->card_memory);
    buffer_fini (&self->card_bytes);
    buffer_fini (&self->prompt);
    array_fini (&self->whole);
}

static const actor_handler_t s_handlers [] = { HANDLERS_END };

const actor_class_t conformance_class = {
    .name = "conformance",
    .state_size = sizeof (conformance_t),
    .init = s_init,
    .fini = s_fini,
    .handlers = s_handlers,
};
