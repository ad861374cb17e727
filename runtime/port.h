//  port - everything an actor can ask of the world
//
//  An actor touches nothing but its own state and its port: time, alarms, randomness, message sockets, HTTP, processes,
//  stores, files, shared memory, jobs, log lines.  There are two worlds behind this table: runtime/port/ is the real one
//  (a libevent loop, libzmq, libcurl, LMDB), simulator/port/ the simulated one (virtual time, drawn delays, injected
//  faults).  The same actor cannot tell which one it is in.
//
//  Rules that both worlds keep:
//
//  * One thread an actor.  Every function here is called on the actor's own thread, and every callback arrives on it,
//    never from inside a call into the port: what happens during a call is delivered after the handler has returned.
//  * Spans given to a callback are borrowed until it returns; spans given to a call are borrowed until it returns.
//  * Whatever was opened is closed by whoever opened it; after the close no callback of it arrives any more.
//  * An `arg` is the callers' own pointer, handed back unread.
//
//  Actors do not use this header directly for messages: calls, streams, sources and sinks (call.h, stream.h, source.h,
//  sink.h) stand on the sockets here.

#ifndef RUNTIME_PORT_H
#define RUNTIME_PORT_H

#include "base/buffer.h"
#include "base/error.h"
#include "base/keeper.h"
#include "runtime/keyring.h"

typedef struct port port_t;
typedef struct port_socket port_socket_t;
typedef struct port_listener port_listener_t;
typedef struct port_exchange port_exchange_t;
typedef struct port_fetch port_fetch_t;
typedef struct port_process port_process_t;
typedef struct port_store port_store_t;
typedef struct port_file port_file_t;
typedef struct port_region port_region_t;

enum { PORT_NEVER = 0 };

//  ---- Message sockets -----------------------------------------------------------------------------------------------
//  ZeroMQ's kinds with ZeroMQ's meaning.  A message is one or more frames and arrives whole or not at all.

typedef enum {
    SOCKET_ROUTER,    //  First frame is the peer; a send to a peer that is not there fails with STATUS_UNREACHABLE
    SOCKET_DEALER,    //  To one endpoint; what is sent before the connection stands is queued
    SOCKET_XPUB,      //  Fan-out; slow readers lose messages, and only they
    SOCKET_SUB,       //  Prefix subscriptions on an XPUB or PUB, in any language
} socket_kind_t;

enum { SOCKET_FRAMES_MAX = 16 };

//  What is smaller is copied for less than it takes to keep it.
enum { SOCKET_KEEP_MIN = 128 << 10 };

//  The most bytes of a message where its socket says nothing else: the largest field that is for a message, and what stands
//  around it.
#define SOCKET_MESSAGE_MAX (UINT64_C (65) << 20)

//  frames: borrowed.  A ROUTER's first frame is the peer.
typedef void (socket_message_fn) (void *arg, const span_t *frames, size_t count);

//  A message of more than SOCKET_FRAMES_MAX frames or larger than message_max was dropped.  first: its first frame,
//  borrowed: of a ROUTER the peer.
typedef void (socket_dropped_fn) (void *arg, span_t first);

//  Messages wait in a queue that counts them and not their bytes, one for each peer.  So whoever sends large ones faster than
//  they are handled could fill the memory.  A socket that has been behind for a second, and for 256 MiB, sheds every
//  message above 4 KiB until nothing waits: what it takes then is what came in a second, and short messages.  That is for
//  sockets to which anybody may send: what a link or a follower gets was asked for, and is bounded by credit or can be asked for
//  again, so that a peer that is merely faster than its reader loses nothing.
typedef socket_message_fn socket_shed_fn;

//  What comes to an XPUB is subscriptions: whoever sends one of more than 4 KiB is hung up on.
typedef struct {
    socket_kind_t kind;        //  What it is
    uint32_t send_queue;       //  Messages a peer may be behind before sends say AGAIN (XPUB: are dropped); 0: 1000
    uint32_t receive_queue;    //  The same on the way in; 0: 1000
    uint64_t message_max;      //  Bytes, both ways, the peer of a ROUTER aside; 0: SOCKET_MESSAGE_MAX
    socket_message_fn *on_message;    //  Called for each message
    socket_dropped_fn *on_dropped;    //  Called for each one that is too large; may be left NULL
    socket_shed_fn *on_shed;          //  Called for each one that is shed; NULL: it sheds nothing
    void *arg;                        //  For the three
} socket_options_t;

//  What counts of a message that is sent or was received.
static inline uint64_t
socket_message_size (socket_kind_t kind, const span_t *frames, size_t count)
{
    uint64_t bytes = 0;
    for (size_t i = kind == SOCKET_ROUTER; i < count; i++)
        bytes += frames [i].size;
    return bytes;
}

//  Who is on the other side.  An endpoint that leaves the machine (endpoint.h) is encrypted, and both sides prove by key
//  who they are: the binder lets in whoever is on its keyring (keyring.h), the connector demands the key of whoever is
//  known to be at that address.  Without the keys for it such an endpoint is neither bound nor connected: REFUSED.  Others
//  are plain; who can reach them is this machine's business: folders that only their owner enters, loopback.
typedef struct {
    bool proven;                  //  The message came through an endpoint that leaves the machine
    char name [KEY_NAME_SIZE];    //  Of the sender's key; "" where it is not on the keyring, or not any more
    uint32_t roles;               //  Of that key; 0 likewise
} socket_sender_t;

//  ---- HTTP server ---------------------------------------------------------------------------------------------------
//  Requests and responses, not sockets.  A request arrives whole (head and body, within the listener's limits); what is
//  malformed never gets here: it was answered with 400, 408, 413 or 431 and counted.

typedef struct {
    span_t name;     //  As sent
    span_t value;    //  Without surrounding blanks
} http_header_t;

typedef struct {
    span_t method;                   //  "POST"
    span_t path;                     //  Raw, without the query
    span_t query;                    //  Behind the '?', without it; empty where there is none
    const http_header_t *headers;    //  In order of arrival
    size_t header_count;             //  How many
    span_t body;                     //  All of it
    span_t peer;                     //  Address of the other side, for logs
} http_request_t;

//  The exchange is the caller's until it is responded to, ended or aborted, also after the client has gone; the request
//  and its body stay valid until its response begins.
typedef void (listener_request_fn) (void *arg, port_exchange_t *exchange, const http_request_t *request);

//  Appends the body of a refusal, and returns its media type (static).
typedef const char *(listener_refusal_fn)(int status, const char *reason, buffer_t *out);

typedef struct {
    uint64_t head_max;                  //  Bytes of request line and headers; 0: 64 KiB
    uint64_t head_timeout_ns;           //  From first byte to the head's end; 0: 10 s
    uint64_t body_max;                  //  Bytes; 0: 64 MiB
    uint64_t body_timeout_ns;           //  From the head's end to the body's; 0: 60 s
    uint64_t body_budget;               //  Bytes of all bodies in flight together; 0: 1 GiB
    uint64_t idle_timeout_ns;           //  Keep-alive connection without a request; 0: 75 s
    uint64_t write_timeout_ns;          //  A client that reads nothing while output waits; 0: 30 s
    uint32_t connections_max;           //  0: 20000
    listener_request_fn *on_request;    //  Called for each whole request
    void *arg;                          //  For on_request
    listener_refusal_fn *refusal;    //  What the listener says where it answers itself; NULL: the reason as plain text
} listener_options_t;

typedef struct {
    void (*on_gone) (void *arg);        //  The client left (EOF, reset, half-close) or stopped reading: cancel the work
    void (*on_writable) (void *arg);    //  After exchange_write said AGAIN: the output has drained below the low mark
    void *arg;                          //  For both
} exchange_watch_t;

//  Figures of one listener, all since the start.
typedef struct {
    uint64_t connections;    //  Open now
    uint64_t accepted;       //  Connections
    uint64_t requests;       //  Whole requests handed over
    uint64_t refused [6];    //  Answered by the listener itself: 400, 408, 413, 417, 431, 503
    uint64_t gone;           //  Clients that left during an exchange
    uint64_t written_off;    //  Clients cut for not reading
    uint64_t body_bytes;     //  Bodies in flight now
} listener_figures_t;

//  ---- HTTP client ---------------------------------------------------------------------------------------------------

typedef struct {
    const char *method;              //  "GET"
    const char *url;                 //  http or https
    const http_header_t *headers;    //  Borrowed for the call
    size_t header_count;             //  How many
    span_t body;                     //  Borrowed for the call; empty for none
    keeper_t *keeper;               //  Of the body, which is not copied then: taken, whatever comes; NULL: it is copied
    uint64_t connect_timeout_ns;    //  0: 5 s
    uint64_t idle_timeout_ns;       //  No byte for this long ends it; PORT_NEVER for none
    uint64_t total_timeout_ns;      //  From start to end; PORT_NEVER for none
    uint64_t response_max;          //  Bytes in all; 0: none
    //  The status line is here.  May be left NULL.
    void (*on_head) (void *arg, int status);
    //  Bytes of the body as they come, in pieces of any size.
    void (*on_data) (void *arg, span_t bytes);
    //  The end, exactly once unless cancelled: STATUS_OK where the whole response arrived, whatever its HTTP status.
    //  UNREACHABLE: there was no connection, the server knows nothing.  IO: it broke before the response was whole.
    //  DEADLINE, LIMIT: one of those above.  CORRUPT: not HTTP.
    void (*on_end) (void *arg, status_t status, const error_t *error);
    void *arg;    //  For the three
} fetch_options_t;

//  ---- Processes -----------------------------------------------------------------------------------------------------

typedef enum {
    PROCESS_SIGNAL_TERM,    //  Please end
    PROCESS_SIGNAL_KILL,    //  End now
    PROCESS_SIGNAL_STOP,    //  Freeze (tests)
    PROCESS_SIGNAL_CONT,    //  Thaw
    PROCESS_SIGNAL_HUP,     //  Reload
} process_signal_t;

typedef struct {
    const char *const *argv;           //  NULL-terminated; argv [0] is looked up in PATH where it has no slash
    const char *const *environment;    //  "NAME=value" added to the caller's own, NULL-terminated; NULL for none
    const char *folder;                //  Working folder; NULL: the caller's
    const char *output;                //  File that standard output and error are appended to; NULL: the caller's own
    //  The process has ended and is reaped.  code: exit status, or 128 + signal.
    void (*on_exit) (void *arg, int code);
    void *arg;    //  For on_exit
} process_options_t;

//  ---- Stores: ordered keys ------------------------------------------------------------------------------------------
//  Puts and deletes collect in a transaction; store_commit makes them visible to a later process of this machine
//  (survives a crash of the process) and, with `sync`, durable (survives a crash of the machine).  A put or delete that
//  fails dooms its transaction: the commit fails the same way, and nothing of it is kept.

typedef struct {
    const char *name;      //  Of the store, inside the state folder
    uint64_t size_max;     //  Bytes of address space; 0: 1 GiB
    const char *format;    //  Format and version, "directory/1": another one on disk is refused with how to drop it
} store_options_t;

//  ---- Jobs ----------------------------------------------------------------------------------------------------------
//  A job is a function on data that is handed over: it touches nothing else, and runs elsewhere while the actor goes on.

typedef void (job_fn) (void *data);
typedef void (job_done_fn) (void *arg, void *data);

//  ---- Log lines -----------------------------------------------------------------------------------------------------

typedef enum { LOG_DEBUG, LOG_INFO, LOG_WARNING, LOG_ERROR } log_level_t;

//  ---- What went without notice --------------------------------------------------------------------------------------

//  Of the whole process, since its start.  One port of it speaks for it.
typedef struct {
    uint64_t lost_lines;     //  Log lines that could not be written
    uint64_t turned_away;    //  Peers for whom there was no descriptor left
} port_figures_t;

//  ---- The table -----------------------------------------------------------------------------------------------------

typedef struct {
    //  Monotonic ns: for all logic.  Never 0.
    uint64_t (*now_ns) (port_t *self);
    //  Wall-clock ns since 1970: for people and persisted expiries.  May jump.
    uint64_t (*wall_ns) (port_t *self);
    //  Unpredictable bytes (seeded ones in the simulator).
    void (*random) (port_t *self, void *bytes, size_t size);
    //  One alarm a port: on_alarm is called at or after `at_ns`; a later setting replaces it; PORT_NEVER clears it.
    void (*alarm) (port_t *self, uint64_t at_ns);
    //  on_turn_end is called once, after the callback in progress (and those that were ready with it) has returned.
    void (*turn_end) (port_t *self);

    port_socket_t *(*socket_open) (port_t *self, const socket_options_t *options, error_t *error);
    //  Endpoints as ZeroMQ writes them; tcp://ADDRESS:* and ipc://PATH.  The error names who holds a taken port.
    status_t (*socket_bind) (port_socket_t *socket, const char *endpoint, error_t *error);
    status_t (*socket_connect) (port_socket_t *socket, const char *endpoint, error_t *error);
    //  Looks whether the path that was bound still leads here: somebody may have removed its file, and nobody can connect
    //  then.  Binds it again, which is what *mended says; whoever was connected stays so, but for every 64th time.  An error
    //  where that does not work, once for each loss; each call tries it again.
    status_t (*socket_mend) (port_socket_t *socket, bool *mended, error_t *error);
    //  The endpoint last bound, with the port the system chose.  Borrowed until the close.
    const char *(*socket_endpoint) (const port_socket_t *socket);
    //  OK, AGAIN (queue full, nothing sent), LIMIT (larger than message_max, nothing sent: whoever reads would have to hang
    //  up) or UNREACHABLE (ROUTER: no such peer).
    status_t (*socket_send) (port_socket_t *socket, const span_t *frames, size_t count);
    //  Inside on_message of `from`: sends the last `count` of the frames that are being handed over, uncopied.  They are gone
    //  afterwards, whatever it returns.
    status_t (*socket_forward) (port_socket_t *socket, port_socket_t *from, const span_t *frames, size_t count);
    //  As socket_send, but that the last frame is not copied: its keeper is taken, whatever it returns.
    status_t (*socket_send_kept) (port_socket_t *socket, const span_t *frames, size_t count, keeper_t *keeper);
    //  Inside on_message: one of the frames that are being handed over, of SOCKET_KEEP_MIN bytes or more, stays where it is
    //  until its keeper lets it go.  The socket may be closed before.
    keeper_t (*socket_keep) (port_socket_t *socket, const span_t *frame);
    void (*socket_subscribe) (port_socket_t *socket, span_t prefix);
    void (*socket_unsubscribe) (port_socket_t *socket, span_t prefix);
    //  Inside on_message: who sent the message.  Looked up for each message: what is taken off the keyring loses its roles
    //  from the next message on.
    socket_sender_t (*socket_sender) (const port_socket_t *socket);
    //  Peers turned away so far because they did not prove who they are, or are not on the keyring.
    uint64_t (*socket_refused) (const port_socket_t *socket);
    //  XPUB: sends so far that found a follower's queue full.  That follower misses what is published until it has read a good
    //  part of it.
    uint64_t (*socket_overflows) (const port_socket_t *socket);
    void (*socket_close) (port_socket_t *socket);

    //  address: "127.0.0.1:8000", "[::1]:0", "unix:PATH".
    port_listener_t *(*listen) (port_t *self, const char *address, const listener_options_t *options, error_t *error);
    //  With the port the system chose.  Borrowed until the close.
    const char *(*listener_address) (const port_listener_t *listener);
    void (*listener_figures) (const port_listener_t *listener, listener_figures_t *figures);
    //  Stops accepting; open exchanges go on.
    void (*listener_stop) (port_listener_t *listener);
    //  Closes every connection.  Exchanges of it must have ended or been aborted before.
    void (*listener_close) (port_listener_t *listener);

    //  Names who to tell.  A client that had already left is reported after the handler returns.
    void (*exchange_watch) (port_exchange_t *exchange, const exchange_watch_t *watch);
    //  Gives the body, which `request` still shows: it stays when the exchange ends.  out: empty.
    void (*exchange_take_body) (port_exchange_t *exchange, buffer_t *out);
    //  Takes back what exchange_take_body gave, as it was, so that the request can be read anew.  body: empty afterwards.
    void (*exchange_return_body) (port_exchange_t *exchange, buffer_t *body);
    //  A whole response: status, headers, body, end.  The exchange is gone afterwards.
    void (*exchange_respond) (
        port_exchange_t *exchange, int status, const http_header_t *headers, size_t count, span_t body);
    //  A streamed response: begin once, write often, end once.
    void (*exchange_begin) (port_exchange_t *exchange, int status, const http_header_t *headers, size_t count);
    //  The bytes are always taken.  AGAIN: more than the high mark (64 KiB) waits; stop until on_writable.
    //  UNREACHABLE: the client is gone, the bytes with it.
    status_t (*exchange_write) (port_exchange_t *exchange, span_t bytes);
    //  A write is coming: what it needs is brought nearer, in step 0 the exchange, in step 1 what that points at.  Changes
    //  nothing.
    void (*exchange_expect) (const port_exchange_t *exchange, unsigned step);
    void (*exchange_end) (port_exchange_t *exchange);
    //  Cuts the connection, so that the client knows that the response is not whole.
    void (*exchange_abort) (port_exchange_t *exchange);

    port_fetch_t *(*fetch) (port_t *self, const fetch_options_t *options, error_t *error);
    //  Back-pressure: on_data stops soon after pause, and goes on after resume.
    void (*fetch_pause) (port_fetch_t *fetch, bool paused);
    //  Closes the connection; no callback follows.  Also allowed from inside a callback of it, except on_end.
    void (*fetch_cancel) (port_fetch_t *fetch);

    port_process_t *(*process_start) (port_t *self, const process_options_t *options, error_t *error);
    int64_t (*process_id) (const port_process_t *process);
    void (*process_signal) (port_process_t *process, process_signal_t signal);
    //  Forgets a process; on_exit is not called any more.  It is killed if it still runs.
    void (*process_close) (port_process_t *process);

    port_store_t *(*store_open) (port_t *self, const store_options_t *options, error_t *error);
    //  The value; data NULL where there is none.  Borrowed until the next call on the store.
    span_t (*store_get) (port_store_t *store, span_t key);
    status_t (*store_put) (port_store_t *store, span_t key, span_t value, error_t *error);
    status_t (*store_delete) (port_store_t *store, span_t key, error_t *error);
    status_t (*store_commit) (port_store_t *store, bool sync, error_t *error);
    //  The first key at or behind `from` (strictly behind it where `after`); false at the end.
    bool (*store_next) (port_store_t *store, span_t from, bool after, span_t *key, span_t *value);
    void (*store_close) (port_store_t *store);

    //  Whole files; paths are absolute or relative to the state folder.  size_max: bytes; a larger file is STATUS_LIMIT.
    status_t (*file_read) (port_t *self, const char *path, size_t size_max, buffer_t *out, error_t *error);
    //  The front of a file: its first `size` bytes, or all of a shorter one.  A job may call this, too.
    status_t (*file_read_front) (port_t *self, const char *path, size_t size, buffer_t *out, error_t *error);
    //  Written beside and renamed: either the old or the new content is there.  secret: readable by the owner only.
    status_t (*file_write) (port_t *self, const char *path, span_t bytes, bool secret, error_t *error);
    //  A file that grows: each append is all there or (STATUS_IO) not there.
    port_file_t *(*file_open) (port_t *self, const char *path, error_t *error);
    status_t (*file_append) (port_file_t *file, span_t bytes, error_t *error);
    void (*file_close) (port_file_t *file);

    //  Memory that other processes of the machine can map under the same name.  create: must not exist yet.
    port_region_t *(*region_open) (port_t *self, const char *name, size_t size, bool create, error_t *error);
    void *(*region_memory) (const port_region_t *region, size_t *size);
    //  remove: the name goes too; mappings stay valid until closed.
    void (*region_close) (port_region_t *region, bool remove);

    //  Runs `run (data)` elsewhere, then `done (arg, data)` here.  What is under way when the actor ends still runs, and
    //  its done is called before the port closes.  done: NULL where nobody waits for it.
    void (*job_start) (port_t *self, job_fn *run, job_done_fn *done, void *arg, void *data);

    //  One finished line, no newline.  Never blocks, never fails: what cannot be written is counted.
    void (*log) (port_t *self, log_level_t level, span_t line);
    //  False where another port of the process speaks for it; always the same.
    bool (*figures) (port_t *self, port_figures_t *figures);
} port_table_t;

//  What the port calls back.  Filled in by whoever makes the port's user (actor.c) before the first turn.
typedef struct {
    void (*on_alarm) (void *arg);       //  The alarm is due
    void (*on_turn_end) (void *arg);    //  Asked for by turn_end
    void (*on_round) (
        void *arg, uint64_t busy_ns);    //  So long the thread served nobody else; NULL: nobody wants to know
    void *arg;                           //  For all
} port_user_t;

//  Every implementation begins with this.
struct port {
    const port_table_t *table;    //  Which world
    port_user_t user;             //  Who lives here
};

#endif
