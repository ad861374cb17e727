//  A worker failed its request, or could not read it: it goes on elsewhere, unless something stands in the way.  What does
//  is a row of a table, in the order in which it is looked at; what a client is told of it, and what is counted, stands
//  there too.
//
//  Answers of several choices, with probabilities, or bound to a grammar would be rows: they are refused before they begin.

#include <inttypes.h>
#include <string.h>

#include "actors/frontend/turn_private.h"
#include "runtime/directory.h"

static const uint64_t MOVE_NS = 10000000;    //  Before another worker is looked for, doubled a few times

enum { MOVE_DOUBLINGS = 6 };

//  ---- What stands in the way ----------------------------------------------------------------------------------------

//  A request that is wrong for one worker is wrong for all.
static bool
s_is_hopeless (turn_t *self, status_t status)
{
    return status == STATUS_INVALID || status == STATUS_UNSUPPORTED;
}

static bool
s_is_tried_enough (turn_t *self, status_t status)
{
    return self->failures.count + self->encodings + 1 >= (size_t)self->frontend->options.attempts ||
           self->failures.count == TURN_FAILURES_MAX;
}

//  Whether a worker that failed it goes on as it is.  One that takes no work is about to be another one.
static bool
s_stays (const turn_t *self, const char *address, uint64_t incarnation)
{
    const actor_entry_t *worker = directory_find (self->frontend->actor, span_from_string (address));
    return worker && worker->incarnation == incarnation && worker->state == ACTOR_STATE_ALIVE && !worker->draining;
}

//  Every worker of the model has failed it, and stays: there is nobody to wait for.
static bool
s_is_without_others (turn_t *self, status_t status)
{
    const model_t *model = models_get (self->frontend->models, self->model_name, self->fingerprint);
    size_t staying = 1;
    if (status == STATUS_UNREACHABLE || !model || !s_stays (self, self->worker, self->incarnation))
        return false;
    for (size_t i = 0; i < self->failures.count; i++) {
        const turn_failure_t *failure = array_at (&self->failures, i);
        staying += !failure->died && s_stays (self, failure->address, failure->incarnation);
    }
    return staying >= model->workers;
}

//  The client has the beginning of an answer that nobody else would have drawn.
static bool
s_is_drawn_without_seed (turn_t *self, status_t status)
{
    const sampling_t *sampling = &self->request.sampling;
    bool greedy =
        (sampling->has_temperature && sampling->temperature == 0) || (sampling->has_top_k && sampling->top_k == 1);
    return turn_generated (self) && !greedy && !sampling->has_seed && !self->frontend->options.migrate_unseeded;
}

//  Pays, where it does not stand in the way: the last one to be asked.
static bool
s_is_beyond_budget (turn_t *self, status_t status)
{
    frontend_t *frontend = self->frontend;
    return !retry_budget_take (&frontend->retries, actor_now (frontend->actor));
}

static const struct {
    const char *name;           //  For metrics
    api_error_kind_t kind;      //  What the client is told; API_OK: what the worker's own status comes to
    const char *explanation;    //  Behind the worker's sentence
    bool (*stands) (turn_t *self, status_t status);    //  In the way
} s_obstacles [] = {
    { "hopeless", API_OK, "", s_is_hopeless },
    { "attempts", API_OK, "", s_is_tried_enough },
    { "nobody_else", API_OK, "; no other worker serves this model", s_is_without_others },
    { "unseeded", API_CANNOT_MIGRATE,
        "; the answer does not go on elsewhere, because it is drawn without a seed (frontend.migrate_unseeded)",
        s_is_drawn_without_seed },
    { "budget", API_RETRIES_SPENT,
        "; no other worker is tried, because the retry budget of this frontend is spent (frontend.retry_share)",
        s_is_beyond_budget },
};

enum { OBSTACLES = sizeof s_obstacles / sizeof *s_obstacles };

//  The first one; OBSTACLES: there is none, and it is paid.
static size_t
s_find_obstacle (turn_t *self, status_t status)
{
    size_t obstacle = 0;
    while (obstacle < OBSTACLES && !s_obstacles [obstacle].stands (self, status))
        obstacle++;
    return obstacle;
}

static api_error_kind_t
s_kind (size_t obstacle, status_t status)
{
    api_error_kind_t kind = s_obstacles [obstacle].kind;
    if (kind == API_OK)
        kind = api_error_from_status (status);
    return kind == API_NO_WORKER ? API_WORKER_FAILED : kind;
}

static void
s_give_up (turn_t *self, size_t obstacle, status_t status, const char *why)
{
    api_error_t error;
    counts_given_up (&self->frontend->counts, self->model_name, s_obstacles [obstacle].name);
    const char *explanation = s_obstacles [obstacle].explanation;
    int room = ERROR_TEXT_MAX - ADDRESS_MAX - (int)sizeof ": ." - (int)strlen (explanation);
    api_error_set (&error, s_kind (obstacle, status), NULL, "%s: %.*s%s.", self->worker, room, why, explanation);
    turn_fail (self, &error);
}

//  ---- Going on ------------------------------------------------------------------------------------------------------

static void
s_note_failure (turn_t *self, status_t status)
{
    turn_failure_t *failure = array_add (&self->failures);
    span_copy_string (span_from_string (self->worker), failure->address, sizeof failure->address);
    failure->incarnation = self->incarnation;
    failure->died = status == STATUS_UNREACHABLE;
}

//  News of the directory that were held up come in a burst: who moves in the middle of it uses up its attempts at once.
static uint64_t
s_pause_ns (size_t failures)
{
    return MOVE_NS << (failures < MOVE_DOUBLINGS ? failures : MOVE_DOUBLINGS);
}

void
turn_move_on (turn_t *self, status_t status, const char *why)
{
    frontend_t *frontend = self->frontend;
    size_t obstacle = s_find_obstacle (self, status);
    if (obstacle < OBSTACLES) {
        s_give_up (self, obstacle, status, why);
        return;
    }
    actor_log (frontend->actor, LOG_WARNING, "request %s moves on from %s after %" PRIu32 " tokens: %s",
        self->request_id, self->worker, turn_generated (self), why);
    s_note_failure (self, status);
    if (turn_generated (self))
        counts_migrated (&frontend->counts, self->model_name, status_name (status));
    else
        metric_add (self->metrics.metrics [COUNTS_RETRIES], 1);
    turn_leave_worker (self);
    turn_route_later (self, s_pause_ns (self->failures.count));
}

//  ---- Prompts that no worker could read -----------------------------------------------------------------------------

static void
s_give_up_encoding (turn_t *self, size_t obstacle, const api_error_t *why)
{
    api_error_t error = *why;
    const char *explanation = s_obstacles [obstacle].explanation;
    int room = ERROR_TEXT_MAX - (int)sizeof "." - (int)strlen (explanation);
    int sentence = (int)strlen (why->text) - 1;    //  Without its full stop
    counts_given_up (&self->frontend->counts, self->model_name, s_obstacles [obstacle].name);
    if (s_obstacles [obstacle].kind)
        api_error_set (&error, s_obstacles [obstacle].kind, NULL, "%.*s%s.", sentence < room ? sentence : room,
            why->text, explanation);
    turn_fail (self, &error);
}

static void
s_on_encode_again (void *state, actor_t *actor, void *arg)
{
    turn_encode (arg);
}

void
turn_encode_elsewhere (turn_t *self, const api_error_t *why)
{
    frontend_t *frontend = self->frontend;
    size_t obstacle = s_find_obstacle (self, STATUS_UNREACHABLE);
    if (obstacle < OBSTACLES) {
        s_give_up_encoding (self, obstacle, why);
        return;
    }
    actor_log (frontend->actor, LOG_WARNING, "request %s has its prompt made elsewhere than at %s: %s",
        self->request_id, self->encoding->worker, why->text);
    metric_add (self->metrics.metrics [COUNTS_RETRIES], 1);
    timer_start (&self->wait, frontend->actor, s_pause_ns (++self->encodings), s_on_encode_again, self);
}
