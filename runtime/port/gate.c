#include "runtime/port/gate.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <zmq.h>

#include "base/bug.h"
#include "base/memory.h"

enum {
    FRAME_MAX = 256,    //  Bytes of a question's frame; longer ones are cut, and then wrong
    FRAMES_MAX = 8,     //  Of a question
    KEY_SIZE = 32,      //  Bytes of a public key
};

//  Frames of a question.
enum { ASKS_VERSION, ASKS_ID, ASKS_DOMAIN, ASKS_ADDRESS, ASKS_PEER, ASKS_MECHANISM, ASKS_KEY, ASKS_COUNT };

struct gate {
    void *zmq;                //  The process's context
    void *socket;             //  REP, of the thread
    pthread_t thread;         //  Answers
    pthread_rwlock_t lock;    //  Around the keyring
    keyring_t *keys;          //  NULL: closed
};

typedef struct {
    uint8_t bytes [FRAMES_MAX][FRAME_MAX];    //  Contents
    size_t sizes [FRAMES_MAX];                //  Of each
    size_t count;                             //  How many; those beyond FRAMES_MAX are counted only
} question_t;

//  ---- The thread: question and answer (ZAP) -------------------------------------------------------------------------

//  Negative at the end of the context, and never before: where nobody answers, libzmq lets everybody in.
static int
s_receive_frame (void *socket, uint8_t frame [FRAME_MAX])
{
    int size;
    while ((size = zmq_recv (socket, frame, FRAME_MAX, 0)) < 0 && zmq_errno () == EINTR)
        continue;
    BUG_ON (size < 0 && zmq_errno () != ETERM);
    return size;
}

//  False where the context ends.
static bool
s_receive (void *socket, question_t *question)
{
    int more = 1;
    for (question->count = 0; more; question->count++) {
        uint8_t surplus [FRAME_MAX];
        bool fits = question->count < FRAMES_MAX;
        size_t size_of_more = sizeof more;
        int size = s_receive_frame (socket, fits ? question->bytes [question->count] : surplus);
        if (size < 0 || zmq_getsockopt (socket, ZMQ_RCVMORE, &more, &size_of_more) != 0)
            return false;
        if (fits)
            question->sizes [question->count] = size < FRAME_MAX ? (size_t)size : FRAME_MAX;
    }
    return true;
}

static span_t
s_frame (const question_t *self, size_t position)
{
    return span_of (self->bytes [position], self->sizes [position]);
}

//  Writes the key that was proven, in Z85; false where the question makes no sense.
static bool
s_read_key (const question_t *self, char key [KEY_TEXT_SIZE])
{
    return self->count == ASKS_COUNT && span_equal (s_frame (self, ASKS_MECHANISM), SPAN ("CURVE")) &&
           self->sizes [ASKS_KEY] == KEY_SIZE && zmq_z85_encode (key, self->bytes [ASKS_KEY], KEY_SIZE) != NULL;
}

static void
s_answer (gate_t *self, const question_t *question)
{
    char key [KEY_TEXT_SIZE] = "";
    socket_sender_t sender = { 0 };
    if (s_read_key (question, key))
        gate_find (self, key, &sender);
    bool passes = *sender.name != 0;
    span_t frames [] = {
        SPAN ("1.0"),
        question->count > ASKS_ID ? s_frame (question, ASKS_ID) : SPAN (""),
        passes ? SPAN ("200") : SPAN ("400"),
        passes ? SPAN ("OK") : SPAN ("not on the keyring"),
        span_from_string (passes ? key : ""),
        SPAN (""),
    };
    enum { COUNT = sizeof frames / sizeof *frames };
    for (size_t i = 0; i < COUNT; i++)
        while (zmq_send (self->socket, frames [i].data, frames [i].size, i + 1 < COUNT ? ZMQ_SNDMORE : 0) < 0 &&
               zmq_errno () == EINTR)
            continue;
}

static void *
s_run (void *arg)
{
    gate_t *self = arg;
    question_t question;
    while (s_receive (self->socket, &question))
        s_answer (self, &question);
    zmq_close (self->socket);
    return NULL;
}

//  ---- The keyring ---------------------------------------------------------------------------------------------------

//  Signals are for other threads.
static void
s_start (gate_t *self)
{
    sigset_t all, before;
    sigfillset (&all);
    pthread_sigmask (SIG_SETMASK, &all, &before);
    BUG_ON (pthread_create (&self->thread, NULL, s_run, self) != 0);
    pthread_sigmask (SIG_SETMASK, &before, NULL);
}

gate_t *
gate_new (void *zmq)
{
    int none = 0;
    gate_t *self = memory_new (sizeof *self);
    self->zmq = zmq;
    self->socket = zmq_socket (zmq, ZMQ_REP);
    BUG_ON (!self->socket || zmq_setsockopt (self->socket, ZMQ_LINGER, &none, sizeof none) != 0);
    BUG_ON (zmq_bind (self->socket, "inproc://zeromq.zap.01") != 0);
    BUG_ON (pthread_rwlock_init (&self->lock, NULL) != 0);
    s_start (self);
    return self;
}

void
gate_destroy (gate_t **self_p)
{
    gate_t *self = *self_p;
    if (!self)
        return;
    pthread_join (self->thread, NULL);
    pthread_rwlock_destroy (&self->lock);
    keyring_destroy (&self->keys);
    memory_free (self);
    *self_p = NULL;
}

void
gate_set_keys (gate_t *self, keyring_t *keys)
{
    pthread_rwlock_wrlock (&self->lock);
    keyring_t *before = self->keys;
    self->keys = keys;
    pthread_rwlock_unlock (&self->lock);
    keyring_destroy (&before);
}

void
gate_find (gate_t *self, const char *public_key, socket_sender_t *sender)
{
    pthread_rwlock_rdlock (&self->lock);
    const keyring_entry_t *entry = self->keys ? keyring_find (self->keys, span_from_string (public_key)) : NULL;
    snprintf (sender->name, sizeof sender->name, "%s", entry ? entry->name : "");
    sender->roles = entry ? entry->roles : 0;
    pthread_rwlock_unlock (&self->lock);
}

//  ---- Sockets -------------------------------------------------------------------------------------------------------

static void
s_set_text (void *socket, int option, const char *text)
{
    BUG_ON (zmq_setsockopt (socket, option, text, strlen (text)) != 0);
}

static status_t
s_set_own (const gate_t *self, void *socket, error_t *error)
{
    if (!self->keys || !keyring_own_secret (self->keys))
        return error_set (error, STATUS_REFUSED,
            "it leaves this machine, which needs keys, and this process has none; make them with `stator key new`");
    s_set_text (socket, ZMQ_CURVE_PUBLICKEY, keyring_own_public (self->keys));
    s_set_text (socket, ZMQ_CURVE_SECRETKEY, keyring_own_secret (self->keys));
    return STATUS_OK;
}

status_t
gate_guard_bind (gate_t *self, void *socket, error_t *error)
{
    int yes = 1;
    pthread_rwlock_rdlock (&self->lock);
    status_t status = s_set_own (self, socket, error);
    pthread_rwlock_unlock (&self->lock);
    if (status != STATUS_OK)
        return status;
    s_set_text (socket, ZMQ_ZAP_DOMAIN, "stator");
    BUG_ON (zmq_setsockopt (socket, ZMQ_CURVE_SERVER, &yes, sizeof yes) != 0);
    return STATUS_OK;
}

status_t
gate_guard_connect (gate_t *self, void *socket, span_t host, error_t *error)
{
    pthread_rwlock_rdlock (&self->lock);
    status_t status = s_set_own (self, socket, error);
    const keyring_entry_t *server = status == STATUS_OK ? keyring_find_address (self->keys, host) : NULL;
    if (server)
        s_set_text (socket, ZMQ_CURVE_SERVERKEY, server->public_key);
    pthread_rwlock_unlock (&self->lock);
    if (status == STATUS_OK && !server)
        status = error_set (error, STATUS_REFUSED, "no key is known of a host at %.*s", SPAN_ARG (host));
    return status;
}
