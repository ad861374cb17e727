#include "runtime/port/zmq_socket.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <zmq.h>

#include "base/bug.h"
#include "base/memory.h"
#include "runtime/endpoint.h"
#include "runtime/port/handshakes.h"
#include "runtime/port/occupant.h"

//  Debian's libzmq is not built for ThreadSanitizer, which therefore does not see that a message handed over is handed
//  over.  HAND_OVER and TAKE_OVER say it, and what libzmq's own threads, and libsodium on them, do with the bytes in between is
//  left out; in other builds they are nothing.
#if defined(__has_feature)
#define CLANG_HAS(feature) __has_feature (feature)
#else
#define CLANG_HAS(feature) 0
#endif
#if defined(__SANITIZE_THREAD__) || CLANG_HAS(thread_sanitizer)
void __tsan_acquire (void *address);
void __tsan_release (void *address);
const char *__tsan_default_suppressions (void);

const char *
__tsan_default_suppressions (void)
{
    return "called_from_lib:libzmq.so.5\ncalled_from_lib:libsodium.so.23\n";
}

#define HAND_OVER(address) __tsan_release (address)
#define TAKE_OVER(address) __tsan_acquire (address)
#else
#define HAND_OVER(address) ((void)0)
#define TAKE_OVER(address) ((void)0)
#endif

enum {
    READ_SHARE = 256,            //  Messages a round
    READ_BYTES = 64 << 10,       //  The same in bytes, the message that passes it included
    QUEUE_DEFAULT = 1000,        //  Messages
    SHED_MIN = 4096,             //  Bytes
    BEHIND_BYTES = 256 << 20,    //  Of what was read while something always waited
    SUBSCRIPTION_MAX = 4096,     //  Bytes, of a handshake too
    ENDPOINT_SIZE = 256,         //  Of an endpoint, with its NUL
    LISTENERS_MAX = 64,          //  On files that were removed: each is a descriptor
};

//  Whoever was turned away comes again after this long.
static const uint64_t KNOCK_PAUSE_NS = 2000000000;

//  Whoever has been behind for so long sheds.
static const uint64_t BEHIND_NS = 1000000000;

//  The file of a bound path.
typedef struct {
    char endpoint [ENDPOINT_SIZE];    //  "": no path is bound
    dev_t device;                     //  Of the file that leads here
    ino_t inode;                      //  Likewise
    unsigned losses;                  //  Times that it was removed
    bool told;                        //  That it cannot be bound again
} bound_path_t;

struct port_socket {
    loop_t *loop;                           //  Of the owner's thread
    void *zmq;                              //  The process's context
    gate_t *gate;                           //  Of the process
    handshakes_t *handshakes;               //  NULL where it has no guarded endpoint
    struct event *knock;                    //  Connects anew; NULL where it is connected to no guarded endpoint
    void *socket;                           //  libzmq's
    socket_options_t options;               //  Defaults filled in
    struct event *edge;                     //  libzmq's descriptor: the state may have changed
    loop_task_t again;                      //  Look again in the next round
    char endpoint [ENDPOINT_SIZE];          //  Last bound, or connected where that is guarded
    bound_path_t path;                      //  The last one bound
    uint64_t overflows;                     //  XPUB: sends that found a queue full
    uint64_t behind_since_ns;               //  Something has always waited since; 0: nothing waits
    uint64_t behind_bytes;                  //  Read since then
    bool reading;                           //  Inside s_read: a close waits for its end
    bool closed;                            //  Closed by the owner while reading
    zmq_msg_t parts [SOCKET_FRAMES_MAX];    //  Of the message that is being received
    size_t part_count;                      //  Of the message that is being handed over, those that are still there
    span_t frames [SOCKET_FRAMES_MAX];      //  Over the parts
};

static void
s_set (port_socket_t *self, int option, int value)
{
    BUG_ON (zmq_setsockopt (self->socket, option, &value, sizeof value) != 0);
}

//  ---- Receiving -----------------------------------------------------------------------------------------------------

static bool
s_receive_part (port_socket_t *self, zmq_msg_t *part)
{
    zmq_msg_init (part);
    int rc;
    while ((rc = zmq_msg_recv (part, self->socket, ZMQ_DONTWAIT)) < 0 && errno == EINTR)
        ;
    if (rc < 0) {
        zmq_msg_close (part);
        return false;
    }
    TAKE_OVER (zmq_msg_data (part));
    return true;
}

static void
s_close_parts (port_socket_t *self, size_t count)
{
    for (size_t i = 0; i < count; i++)
        zmq_msg_close (&self->parts [i]);
}

//  Parts that were forwarded meanwhile are empty.
static void
s_hand_over (port_socket_t *self, size_t count)
{
    self->part_count = count;
    if (self->options.on_message)
        self->options.on_message (self->options.arg, self->frames, count);
    self->part_count = 0;
}

static bool
s_fits (const port_socket_t *self, const span_t *frames, size_t count)
{
    return socket_message_size (self->options.kind, frames, count) <= self->options.message_max;
}

static bool
s_is_swamped (const port_socket_t *self)
{
    return self->options.on_shed && self->behind_bytes > BEHIND_BYTES &&
           loop_now_ns () - self->behind_since_ns > BEHIND_NS;
}

static void
s_note_behind (port_socket_t *self, bool behind, uint64_t bytes)
{
    if (!behind)
        self->behind_since_ns = self->behind_bytes = 0;
    else if (!self->behind_since_ns)
        self->behind_since_ns = loop_now_ns ();
    self->behind_bytes += behind ? bytes : 0;
}

//  One that is not handed over.
static void
s_leave_out (port_socket_t *self, size_t count, bool shed)
{
    if (shed)
        self->options.on_shed (self->options.arg, self->frames, count);
    else if (self->options.on_dropped)
        self->options.on_dropped (self->options.arg, self->frames [0]);
}

//  Receives one whole message, hands it over and adds its size to `bytes`; false where there is none.
static bool
s_receive (port_socket_t *self, uint64_t *bytes)
{
    size_t count = 0;
    uint64_t before = *bytes;
    bool more = true, surpluses = false;
    while (more) {
        zmq_msg_t surplus;
        zmq_msg_t *part = count < SOCKET_FRAMES_MAX ? &self->parts [count] : &surplus;
        if (!s_receive_part (self, part))
            break;
        more = zmq_msg_more (part);
        *bytes += zmq_msg_size (part);
        if (part == &surplus) {
            surpluses = true;
            zmq_msg_close (part);
            continue;
        }
        self->frames [count++] = span_of (zmq_msg_data (part), zmq_msg_size (part));
    }
    if (!count)
        return false;
    bool fits = !more && !surpluses && s_fits (self, self->frames, count);
    bool shed = fits && *bytes - before > SHED_MIN && s_is_swamped (self);
    if (fits && !shed)
        s_hand_over (self, count);
    else
        s_leave_out (self, count, shed);
    s_close_parts (self, count);
    return true;
}

static void
s_free (port_socket_t *self)
{
    if (self->edge)
        event_free (self->edge);
    loop_undefer (self->loop, &self->again);
    if (self->knock)
        event_free (self->knock);
    handshakes_destroy (&self->handshakes);
    if (self->socket)
        zmq_close (self->socket);
    memory_free (self);
}

//  Where the last look found nothing, libzmq's descriptor tells when to look again.
static void
s_read (void *arg)
{
    port_socket_t *self = arg;
    int left = READ_SHARE;
    uint64_t bytes = 0;
    self->reading = true;
    while (left && bytes < READ_BYTES && !self->closed && s_receive (self, &bytes))
        left--;
    self->reading = false;
    if (self->closed) {
        s_free (self);
        return;
    }
    bool behind = !left || bytes >= READ_BYTES;
    s_note_behind (self, behind, bytes);
    if (behind)
        loop_defer (self->loop, &self->again);
}

static void
s_on_edge (evutil_socket_t fd, short what, void *arg)
{
    loop_note (((port_socket_t *)arg)->loop);
    s_read (arg);
}

static void
s_close_kept (void *part)
{
    zmq_msg_close (part);
    memory_free (part);
}

//  Both share the bytes: whoever is handed the message still has all of it.
keeper_t
zmq_socket_keep (port_socket_t *self, const span_t *frame)
{
    size_t position = (size_t)(frame - self->frames);
    BUG_ON (position >= self->part_count || frame->size < SOCKET_KEEP_MIN);
    zmq_msg_t *part = memory_new (sizeof *part);
    zmq_msg_init (part);
    BUG_ON (zmq_msg_copy (part, &self->parts [position]) != 0);
    return (keeper_t){ s_close_kept, part };
}

//  ---- Sending -------------------------------------------------------------------------------------------------------

static int
s_try_to_send (port_socket_t *self, zmq_msg_t *part, bool more)
{
    int rc;
    while ((rc = zmq_msg_send (part, self->socket, ZMQ_DONTWAIT | (more ? ZMQ_SNDMORE : 0))) < 0 && errno == EINTR)
        ;
    return rc;
}

//  The part is empty afterwards where libzmq took it.  An XPUB refuses a message when it finds a queue full, and sends it to
//  the others when it is told to drop; from then on it knows of that queue, until it is half empty.
static int
s_pass_on (port_socket_t *self, zmq_msg_t *part, bool more)
{
    HAND_OVER (zmq_msg_data (part));
    int rc = s_try_to_send (self, part, more);
    if (rc >= 0 || errno != EAGAIN || self->options.kind != SOCKET_XPUB)
        return rc;
    self->overflows++;
    s_set (self, ZMQ_XPUB_NODROP, 0);
    rc = s_try_to_send (self, part, more);
    s_set (self, ZMQ_XPUB_NODROP, 1);
    return rc;
}

//  The part is gone afterwards.
static int
s_send_part (port_socket_t *self, zmq_msg_t *part, bool more)
{
    int rc = s_pass_on (self, part, more);
    if (rc < 0) {
        int reason = errno;
        zmq_msg_close (part);
        errno = reason;
    }
    return rc;
}

static int
s_send_copy (port_socket_t *self, span_t frame, bool more)
{
    zmq_msg_t part;
    BUG_ON (zmq_msg_init_size (&part, frame.size) != 0);
    if (frame.size)
        memcpy (zmq_msg_data (&part), frame.data, frame.size);
    return s_send_part (self, &part, more);
}

//  A frame that libzmq sends from where it lies.
typedef struct {
    keeper_t keeper;    //  Of its bytes
    bool sent;          //  Whatever was done with them before is done
} kept_t;

//  On whatever thread libzmq is done with it.  It orders the two threads, but not so that a checker of races sees it.
static void
s_on_sent (void *data, void *kept_)
{
    kept_t *kept = kept_;
    BUG_ON (!__atomic_load_n (&kept->sent, __ATOMIC_ACQUIRE));
    keeper_release (&kept->keeper);
    memory_free (kept);
}

static int
s_send_kept (port_socket_t *self, span_t frame, keeper_t *keeper)
{
    zmq_msg_t part;
    kept_t *kept = memory_new (sizeof *kept);
    kept->keeper = keeper_take (keeper);
    BUG_ON (zmq_msg_init_data (&part, (void *)(uintptr_t)frame.data, frame.size, s_on_sent, kept) != 0);
    __atomic_store_n (&kept->sent, true, __ATOMIC_RELEASE);
    return s_send_part (self, &part, false);
}

//  Where the frames of a message come from, beside their bytes.
typedef struct {
    zmq_msg_t *parts;    //  They lie there, to be passed on; NULL: they are copied
    keeper_t *keeper;    //  All but the last, which it keeps; NULL: all of them
} origin_t;

static int
s_send_frame (port_socket_t *self, const span_t *frames, const origin_t *origin, size_t position, bool more)
{
    if (origin->parts)
        return s_pass_on (self, &origin->parts [position], more);
    if (origin->keeper && !more)
        return s_send_kept (self, frames [position], origin->keeper);
    return s_send_copy (self, frames [position], more);
}

//  libzmq refuses a message at its first frame, unless the peer goes away in the middle: then it drops the frames before
//  and wants to be given those behind, which it drops too.
static status_t
s_send (port_socket_t *self, const span_t *frames, const origin_t *origin, size_t count)
{
    BUG_ON (count == 0 || count > SOCKET_FRAMES_MAX);
    if (!s_fits (self, frames, count))
        return STATUS_LIMIT;
    if (!self->reading)
        loop_defer (self->loop, &self->again);
    status_t status = STATUS_OK;
    for (size_t i = 0; i < count; i++) {
        if (s_send_frame (self, frames, origin, i, i + 1 < count) >= 0)
            continue;
        status = errno == EHOSTUNREACH ? STATUS_UNREACHABLE : STATUS_AGAIN;
        if (i == 0)
            break;
    }
    return status;
}

status_t
zmq_socket_send (port_socket_t *self, const span_t *frames, size_t count)
{
    return s_send (self, frames, &(origin_t){ 0 }, count);
}

status_t
zmq_socket_send_kept (port_socket_t *self, const span_t *frames, size_t count, keeper_t *keeper)
{
    status_t status = s_send (self, frames, &(origin_t){ .keeper = keeper }, count);
    keeper_release (keeper);
    return status;
}

//  libzmq reads up to 8 KB at once, and the frames that came in one read share its memory, 18 KB with their counters, until
//  the last of them is sent.  So a small message that came alone takes as much of a queue as a large one, but only once,
//  however many followers it waits for.
status_t
zmq_socket_forward (port_socket_t *self, port_socket_t *from, const span_t *frames, size_t count)
{
    size_t first = (size_t)(frames - from->frames);
    BUG_ON (first + count != from->part_count);
    from->part_count = first;
    return s_send (self, frames, &(origin_t){ .parts = &from->parts [first] }, count);
}

void
zmq_socket_subscribe (port_socket_t *self, span_t prefix)
{
    zmq_setsockopt (self->socket, ZMQ_SUBSCRIBE, prefix.data, prefix.size);
}

void
zmq_socket_unsubscribe (port_socket_t *self, span_t prefix)
{
    zmq_setsockopt (self->socket, ZMQ_UNSUBSCRIBE, prefix.data, prefix.size);
}

//  ---- Bind and connect ----------------------------------------------------------------------------------------------

static const struct {
    int code;           //  errno
    status_t status;    //  What it means to the caller
} s_reasons [] = {
    { EADDRINUSE, STATUS_EXISTS },
    { EADDRNOTAVAIL, STATUS_INVALID },
    { ENODEV, STATUS_INVALID },
    { EINVAL, STATUS_INVALID },
    { EPROTONOSUPPORT, STATUS_INVALID },
    { ENAMETOOLONG, STATUS_LIMIT },
    { EACCES, STATUS_REFUSED },
    { ENOENT, STATUS_NOT_FOUND },
};

static status_t
s_status_of (int code)
{
    for (size_t i = 0; i < sizeof s_reasons / sizeof *s_reasons; i++)
        if (s_reasons [i].code == code)
            return s_reasons [i].status;
    return STATUS_IO;
}

static status_t
s_fail (const char *what, const char *endpoint, int reason, error_t *error)
{
    return error_set (error, s_status_of (reason), "cannot %s %s: %s", what, endpoint, zmq_strerror (reason));
}

static status_t
s_fail_bind (const char *endpoint, int reason, error_t *error)
{
    const char *colon = strrchr (endpoint, ':');
    if (reason != EADDRINUSE || strncmp (endpoint, "tcp://", 6) != 0)
        return s_fail ("bind", endpoint, reason, error);
    char occupant [OCCUPANT_TEXT_MAX];
    occupant_of_tcp ((uint16_t)strtoul (colon + 1, NULL, 10), occupant);
    return error_set (error, STATUS_EXISTS, "cannot bind %s: the port is held by %s", endpoint, occupant);
}

static void
s_allow_ipv6 (port_socket_t *self, const char *endpoint)
{
    s_set (self, ZMQ_IPV6, strchr (endpoint, '[') != NULL);
}

//  libzmq takes a port modulo 65536.
static status_t
s_check_port (const char *endpoint, error_t *error)
{
    const char *colon = strrchr (endpoint, ':');
    uint64_t port;
    if (strncmp (endpoint, "tcp://", 6) != 0 || !span_to_u64 (span_from_string (colon + 1), &port) ||
        port <= UINT16_MAX)
        return STATUS_OK;
    return error_set (error, STATUS_INVALID, "%s: a port is at most %d", endpoint, UINT16_MAX);
}

static void
s_on_given_up (void *arg)
{
    loop_event_after (((port_socket_t *)arg)->knock, KNOCK_PAUSE_NS);
}

//  The keys may have changed on either side.
static void
s_on_knock (evutil_socket_t fd, short what, void *arg)
{
    port_socket_t *self = arg;
    char endpoint [ENDPOINT_SIZE];
    memcpy (endpoint, self->endpoint, sizeof endpoint);
    zmq_disconnect (self->socket, endpoint);
    if (zmq_socket_connect (self, endpoint, NULL))
        s_on_given_up (self);
}

//  Counts who is turned away, or comes again when that happens to this one.
static status_t
s_watch_handshakes (port_socket_t *self, const char *endpoint, bool binds, error_t *error)
{
    if (!binds)
        snprintf (self->endpoint, sizeof self->endpoint, "%s", endpoint);
    if (!binds && !self->knock)
        self->knock = loop_event (self->loop, -1, 0, s_on_knock, self);
    if (!self->handshakes)
        self->handshakes =
            handshakes_new (self->loop, self->zmq, self->socket, binds ? NULL : s_on_given_up, self, error);
    return self->handshakes ? STATUS_OK : STATUS_LIMIT;
}

//  What is set here holds for the endpoint that comes next, and not for those before.
static status_t
s_guard (port_socket_t *self, const char *endpoint_text, bool binds, error_t *error)
{
    span_t endpoint = span_from_string (endpoint_text);
    s_set (self, ZMQ_CURVE_SERVER, 0);
    if (!endpoint_leaves_machine (endpoint))
        return STATUS_OK;
    status_t status = binds ? gate_guard_bind (self->gate, self->socket, error)
                            : gate_guard_connect (self->gate, self->socket, endpoint_host (endpoint), error);
    if (status == STATUS_OK)
        return s_watch_handshakes (self, endpoint_text, binds, error);
    error_prefix (error, "cannot %s %s", binds ? "bind" : "connect to", endpoint_text);
    return status;
}

static const char *
s_path_of (const char *endpoint)
{
    bool is_path = strncmp (endpoint, "ipc://", 6) == 0 && endpoint [6] != '@' && endpoint [6] != '*';
    return is_path ? endpoint + 6 : NULL;
}

static void
s_remember_path (port_socket_t *self, const char *endpoint)
{
    struct stat found = { 0 };
    lstat (s_path_of (endpoint), &found);
    snprintf (self->path.endpoint, sizeof self->path.endpoint, "%s", endpoint);
    self->path.device = found.st_dev;
    self->path.inode = found.st_ino;
}

static bool
s_path_leads_here (const port_socket_t *self)
{
    struct stat found;
    const bound_path_t *path = &self->path;
    return !*path->endpoint || (lstat (s_path_of (path->endpoint), &found) == 0 && found.st_dev == path->device &&
                                   found.st_ino == path->inode);
}

//  libzmq removes whatever lies at an ipc path before it binds, also a socket somebody answers on: so look first.
static status_t
s_bind (port_socket_t *self, const char *endpoint, error_t *error)
{
    const char *path = s_path_of (endpoint);
    status_t status = path ? occupant_free_unix_path (path, error) : s_check_port (endpoint, error);
    if (status != STATUS_OK) {
        error_prefix (error, "cannot bind");
        return status;
    }
    status = s_guard (self, endpoint, true, error);
    if (status != STATUS_OK)
        return status;
    s_allow_ipv6 (self, endpoint);
    if (zmq_bind (self->socket, endpoint) != 0)
        return s_fail_bind (endpoint, zmq_errno (), error);
    if (path)
        s_remember_path (self, endpoint);
    return STATUS_OK;
}

status_t
zmq_socket_bind (port_socket_t *self, const char *endpoint, error_t *error)
{
    status_t status = s_bind (self, endpoint, error);
    if (status != STATUS_OK)
        return status;
    size_t size = sizeof self->endpoint;
    BUG_ON (zmq_getsockopt (self->socket, ZMQ_LAST_ENDPOINT, self->endpoint, &size) != 0);
    return STATUS_OK;
}

//  Whoever is connected lives by the listener that let it in: those on removed files stay, each with its descriptor, until
//  there are many.
status_t
zmq_socket_mend (port_socket_t *self, bool *mended, error_t *error)
{
    bound_path_t *path = &self->path;
    char endpoint [ENDPOINT_SIZE];
    error_t unasked;
    *mended = false;
    if (s_path_leads_here (self))
        return STATUS_OK;
    memcpy (endpoint, path->endpoint, sizeof endpoint);
    bool is_news = !path->told;
    if (is_news && ++path->losses % LISTENERS_MAX == 0)
        zmq_unbind (self->socket, endpoint);
    status_t status = s_bind (self, endpoint, is_news ? error : &unasked);
    *mended = status == STATUS_OK;
    path->told = !*mended;
    return is_news ? status : STATUS_OK;
}

status_t
zmq_socket_connect (port_socket_t *self, const char *endpoint, error_t *error)
{
    status_t status = s_check_port (endpoint, error);
    if (status == STATUS_OK)
        status = s_guard (self, endpoint, false, error);
    if (status != STATUS_OK)
        return status;
    s_allow_ipv6 (self, endpoint);
    if (zmq_connect (self->socket, endpoint) != 0)
        return s_fail ("connect to", endpoint, zmq_errno (), error);
    loop_defer (self->loop, &self->again);
    return STATUS_OK;
}

const char *
zmq_socket_endpoint (const port_socket_t *self)
{
    return self->endpoint;
}

//  A peer of a plain endpoint beside a guarded one could claim a User-Id: that takes rights away from it, and gives it
//  none.
socket_sender_t
zmq_socket_sender (const port_socket_t *self)
{
    socket_sender_t sender = { 0 };
    if (!self->handshakes)
        return sender;
    BUG_ON (!self->part_count);
    zmq_msg_t *part = (zmq_msg_t *)(uintptr_t)&self->parts [self->part_count - 1];
    const char *key = zmq_msg_gets (part, "User-Id");
    if (key) {
        sender.proven = true;
        gate_find (self->gate, key, &sender);
    }
    return sender;
}

uint64_t
zmq_socket_refused (const port_socket_t *self)
{
    return handshakes_failed (self->handshakes);
}

uint64_t
zmq_socket_overflows (const port_socket_t *self)
{
    return self->overflows;
}

//  ---- Open and close ------------------------------------------------------------------------------------------------

//  What every socket gets.  A dead peer is noticed in some seconds, over TCP by the system: its probes where nothing is
//  under way, its patience where something is not acknowledged, or not taken by a peer that lives but reads nothing; over ipc it
//  is noticed at once.  One that stands still with nothing under way is not noticed.  ZMTP's own pings are not used: libzmq 4.3
//  aborts the process that would ping a peer which filled its queue and left.  It also aborts one that such a peer has pinged,
//  which no option prevents.  Times in ms, of probes in s.
static const struct {
    int option;    //  libzmq's
    int value;     //  What we set it to
} s_settings [] = {
    { ZMQ_LINGER, 500 },
    { ZMQ_BACKLOG, 4096 },
    { ZMQ_HANDSHAKE_IVL, 5000 },
    { ZMQ_TCP_MAXRT, 6000 },
    { ZMQ_TCP_KEEPALIVE, 1 },
    { ZMQ_TCP_KEEPALIVE_IDLE, 2 },
    { ZMQ_TCP_KEEPALIVE_INTVL, 2 },
    { ZMQ_TCP_KEEPALIVE_CNT, 2 },
    { ZMQ_RECONNECT_IVL, 100 },
    { ZMQ_RECONNECT_IVL_MAX, 2000 },
};

static const int s_kinds [] = {
    [SOCKET_ROUTER] = ZMQ_ROUTER,
    [SOCKET_DEALER] = ZMQ_DEALER,
    [SOCKET_XPUB] = ZMQ_XPUB,
    [SOCKET_SUB] = ZMQ_SUB,
};

static void
s_configure (port_socket_t *self)
{
    for (size_t i = 0; i < sizeof s_settings / sizeof *s_settings; i++)
        s_set (self, s_settings [i].option, s_settings [i].value);
    s_set (self, ZMQ_SNDHWM, (int)self->options.send_queue);
    s_set (self, ZMQ_RCVHWM, (int)self->options.receive_queue);
    if (self->options.kind == SOCKET_ROUTER)
        s_set (self, ZMQ_ROUTER_MANDATORY, 1);
    if (self->options.kind == SOCKET_XPUB)
        s_set (self, ZMQ_XPUB_NODROP, 1);
    int64_t message_max = self->options.kind == SOCKET_XPUB ? SUBSCRIPTION_MAX : (int64_t)self->options.message_max;
    BUG_ON (zmq_setsockopt (self->socket, ZMQ_MAXMSGSIZE, &message_max, sizeof message_max) != 0);
}

static socket_options_t
s_with_defaults (const socket_options_t *options)
{
    socket_options_t result = *options;
    BUG_ON (result.send_queue > INT32_MAX || result.receive_queue > INT32_MAX || result.message_max > INT64_MAX);
    if (!result.send_queue)
        result.send_queue = QUEUE_DEFAULT;
    if (!result.receive_queue)
        result.receive_queue = QUEUE_DEFAULT;
    if (!result.message_max)
        result.message_max = SOCKET_MESSAGE_MAX;
    return result;
}

static void
s_watch (port_socket_t *self)
{
    int fd;
    size_t size = sizeof fd;
    BUG_ON (zmq_getsockopt (self->socket, ZMQ_FD, &fd, &size) != 0);
    self->edge = loop_event (self->loop, fd, EV_READ | EV_PERSIST, s_on_edge, self);
    BUG_ON (event_add (self->edge, NULL) != 0);
}

port_socket_t *
zmq_socket_open (loop_t *loop, void *zmq, gate_t *gate, const socket_options_t *options, error_t *error)
{
    void *socket = zmq_socket (zmq, s_kinds [options->kind]);
    if (!socket) {
        error_set (error, STATUS_LIMIT, "cannot open a message socket: %s", zmq_strerror (zmq_errno ()));
        return NULL;
    }
    port_socket_t *self = memory_new (sizeof *self);
    self->loop = loop;
    self->zmq = zmq;
    self->gate = gate;
    self->socket = socket;
    self->options = s_with_defaults (options);
    self->again = (loop_task_t){ .run = s_read, .arg = self };
    s_configure (self);
    s_watch (self);
    return self;
}

void
zmq_socket_close (port_socket_t *self)
{
    if (self->reading)
        self->closed = true;
    else
        s_free (self);
}
