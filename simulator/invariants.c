#include "simulator/invariants.h"

#include <inttypes.h>
#include <stdio.h>

enum { SENTENCE_MAX = 512 };

typedef struct {
    realm_t *realm;                                            //  Where
    const fleet_view_t *view;                                  //  How to look
    bool quiet;                                                //  Nobody may be behind
    invariant_figures_t *figures;                              //  Added to
    void (*on_violation) (void *arg, const char *sentence);    //  Told
    void *arg;                                                 //  For on_violation
    const actor_t *source;                                     //  Looked at now
    uint64_t truth;                                            //  What it holds
} look_t;

typedef void (actor_fn) (look_t *look, const actor_t *actor);

static void
s_for_each_actor (look_t *look, actor_fn *run)
{
    const realm_process_t *process;
    for (size_t i = 0; (process = realm_process_at (look->realm, i)); i++) {
        const actor_t *actor;
        for (size_t k = 0; (actor = look->view->actor_at (process, k)); k++)
            run (look, actor);
    }
}

static void
s_tell (look_t *look, const actor_t *follower, const char *what, uint64_t applied, uint64_t published)
{
    char sentence [SENTENCE_MAX];
    snprintf (sentence, sizeof sentence, "%s %s %s: %" PRIu64 " of %" PRIu64 " batches applied",
        actor_address (follower), what, actor_address (look->source), applied, published);
    look->on_violation (look->arg, sentence);
}

static void
s_compare (look_t *look, const actor_t *follower)
{
    uint64_t belief, incarnation = 0, applied = 0;
    uint16_t stream = look->view->stream;
    if (!look->view->belief (follower, actor_source (look->source), &belief))
        return;
    look->figures->looks++;
    bool known = actor_feed_position (follower, stream, actor_source (look->source), &incarnation, &applied);
    uint64_t published = actor_published (look->source, stream);
    bool nothing_to_know = !known && incarnation == 0 && published == 0 && look->truth == 0;
    bool current = known && incarnation == actor_incarnation (look->source) && applied == published;
    if (!current && !nothing_to_know) {
        look->figures->behind++;
        if (look->quiet)
            s_tell (look, follower, "has not caught up with", applied, published);
        return;
    }
    look->figures->compared++;
    if (belief == look->truth)
        return;
    look->figures->wrong++;
    s_tell (look, follower, "is wrong about", applied, published);
}

static void
s_look_at_source (look_t *look, const actor_t *actor)
{
    look->source = actor;
    if (look->view->truth (actor, &look->truth))
        s_for_each_actor (look, s_compare);
}

void
invariants_check (realm_t *realm, const fleet_view_t *view, bool quiet, invariant_figures_t *figures,
    void (*on_violation) (void *arg, const char *sentence), void *arg)
{
    look_t look = {
        .realm = realm, .view = view, .quiet = quiet, .figures = figures, .on_violation = on_violation, .arg = arg
    };
    s_for_each_actor (&look, s_look_at_source);
}
