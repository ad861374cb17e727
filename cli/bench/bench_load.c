#include "cli/bench/bench_load.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/memory.h"

#define OK_LINE "HTTP/1.1 200"
#define LAST_CHUNK "\r\n0\r\n\r\n"

enum {
    HEAD_SIZE = sizeof OK_LINE - 1,
    TAIL_SIZE = sizeof LAST_CHUNK - 1,
    REQUEST_MAX = 2048,
    READ_SIZE = 65536,
    PATIENCE_MS = 120000,
    QUIET_MS = 300,
    SPARE_FILES = 64,
    AWAITED_MAX = 32,
};

//  About a hundred tokens, none of them the same as in another prompt.
static const char s_prompt [] = "%08llu is the number of this request, and %08llu is its double. A harness sends its "
                                "whole history again at each turn: "
                                "the system prompt, the tools it may call, and everything that was said. Say in a few "
                                "words what a server can do about "
                                "that, so that what it has computed once is not computed again.";

typedef struct {
    char head [HEAD_SIZE];    //  How the response begins
    char tail [TAIL_SIZE];    //  How it ends so far
    size_t size;              //  Bytes of it
    bool busy;                //  A response is awaited
} client_t;

struct bench_load {
    const char *model;       //  Whom to ask
    size_t count;            //  Connections
    client_t *clients;       //  One each
    struct pollfd *files;    //  Likewise
    uint64_t asked;          //  Requests ever
};

//  ---- Life ----------------------------------------------------------------------------------------------------------

static void
s_allow_files (size_t count)
{
    struct rlimit limit;
    if (getrlimit (RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= count + SPARE_FILES)
        return;
    limit.rlim_cur = limit.rlim_max;
    setrlimit (RLIMIT_NOFILE, &limit);
}

static struct sockaddr_in
s_address (unsigned port)
{
    return (struct sockaddr_in){
        .sin_family = AF_INET, .sin_port = htons ((uint16_t)port), .sin_addr.s_addr = htonl (INADDR_LOOPBACK)
    };
}

unsigned
bench_free_port (void)
{
    struct sockaddr_in address = s_address (0);
    socklen_t size = sizeof address;
    int file = socket (AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    bool good = file >= 0 && bind (file, (struct sockaddr *)&address, size) == 0 &&
                getsockname (file, (struct sockaddr *)&address, &size) == 0;
    if (file >= 0)
        close (file);
    return good ? ntohs (address.sin_port) : 0;
}

static int
s_connect (unsigned port)
{
    struct sockaddr_in address = s_address (port);
    int yes = 1, file = socket (AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (file >= 0 && connect (file, (struct sockaddr *)&address, sizeof address) != 0) {
        close (file);
        return -1;
    }
    setsockopt (file, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
    return file;
}

bench_load_t *
bench_load_new (unsigned port, const char *model, size_t connections, error_t *error)
{
    bench_load_t *self = memory_new (sizeof *self);
    s_allow_files (connections);
    self->model = model;
    self->clients = memory_new (connections * sizeof *self->clients);
    self->files = memory_new (connections * sizeof *self->files);
    for (; self->count < connections; self->count++) {
        int file = s_connect (port);
        if (file < 0) {
            error_set (error, STATUS_IO, "connection %zu of %zu: %s", self->count + 1, connections, strerror (errno));
            bench_load_destroy (&self);
            return NULL;
        }
        self->files [self->count] = (struct pollfd){ .fd = file, .events = POLLIN };
    }
    return self;
}

void
bench_load_destroy (bench_load_t **self_p)
{
    bench_load_t *self = *self_p;
    if (!self)
        return;
    for (size_t i = 0; i < self->count; i++)
        close (self->files [i].fd);
    memory_free (self->clients);
    memory_free (self->files);
    memory_free (self);
    *self_p = NULL;
}

//  ---- Requests ------------------------------------------------------------------------------------------------------

static status_t
s_ask (bench_load_t *self, size_t position, uint64_t tokens, error_t *error)
{
    char prompt [REQUEST_MAX], body [REQUEST_MAX], request [REQUEST_MAX];
    unsigned long long number = ++self->asked;
    snprintf (prompt, sizeof prompt, s_prompt, number, 2 * number);
    int size = snprintf (body, sizeof body,
        "{\"model\":\"%s\",\"stream\":true,\"max_tokens\":%llu,\"messages\":[{\"role\":\"user\",\"content\":\"%s\"}]}",
        self->model, (unsigned long long)tokens, prompt);
    size = snprintf (request, sizeof request,
        "POST /v1/chat/completions HTTP/1.1\r\nHost: bench\r\nContent-Type: application/json\r\nContent-Length: "
        "%d\r\n\r\n%s",
        size, body);
    self->clients [position] = (client_t){ .busy = true };
    if (send (self->files [position].fd, request, (size_t)size, MSG_NOSIGNAL) != size)
        return error_set (error, STATUS_IO, "a request could not be sent: %s", strerror (errno));
    return STATUS_OK;
}

//  Keeps the first bytes and the last ones.
static void
s_take (client_t *self, const char *bytes, size_t size)
{
    for (size_t i = 0; i < size && self->size + i < HEAD_SIZE; i++)
        self->head [self->size + i] = bytes [i];
    size_t kept = size < TAIL_SIZE ? TAIL_SIZE - size : 0;
    memmove (self->tail, self->tail + TAIL_SIZE - kept, kept);
    memcpy (self->tail + kept, bytes + size - (TAIL_SIZE - kept), TAIL_SIZE - kept);
    self->size += size;
}

static status_t
s_read (bench_load_t *self, size_t position, error_t *error)
{
    static char bytes [READ_SIZE];
    client_t *client = &self->clients [position];
    ssize_t size = recv (self->files [position].fd, bytes, sizeof bytes, MSG_DONTWAIT);
    if (size < 0 && errno == EAGAIN)
        return STATUS_OK;
    if (size <= 0)
        return error_set (error, STATUS_IO, "a connection broke: %s", size ? strerror (errno) : "the server closed it");
    s_take (client, bytes, (size_t)size);
    if (client->size >= HEAD_SIZE && memcmp (client->head, OK_LINE, HEAD_SIZE) != 0)
        return error_set (error, STATUS_IO, "a request was answered with: %.*s", (int)(size < 300 ? size : 300), bytes);
    client->busy = memcmp (client->tail, LAST_CHUNK, TAIL_SIZE) != 0;
    return STATUS_OK;
}

//  Waits for bytes, and reads them.
static status_t
s_turn (bench_load_t *self, error_t *error)
{
    status_t status = STATUS_OK;
    if (poll (self->files, self->count, PATIENCE_MS) <= 0)
        return error_set (error, STATUS_DEADLINE, "nothing came for %d s", PATIENCE_MS / 1000);
    for (size_t i = 0; i < self->count && !status; i++)
        if (self->files [i].revents)
            status = s_read (self, i, error);
    return status;
}

status_t
bench_load_run (bench_load_t *self, uint64_t requests, uint64_t tokens, error_t *error)
{
    uint64_t asked = 0;
    status_t status = STATUS_OK;
    for (size_t busy = 1; busy && !status;) {
        busy = 0;
        for (size_t i = 0; i < self->count && !status; i++) {
            if (!self->clients [i].busy && asked < requests) {
                asked++;
                status = s_ask (self, i, tokens, error);
            }
            busy += self->clients [i].busy;
        }
        if (busy && !status)
            status = s_turn (self, error);
    }
    return status;
}

//  How many answers have not begun.
static size_t
s_awaited (const bench_load_t *self)
{
    size_t awaited = 0;
    for (size_t i = 0; i < self->count; i++)
        awaited += self->clients [i].busy && !self->clients [i].size;
    return awaited;
}

status_t
bench_load_hold (bench_load_t *self, uint64_t tokens, error_t *error)
{
    status_t status = STATUS_OK;
    for (size_t asked = 0; !status && (asked < self->count || s_awaited (self));) {
        bool more = asked < self->count && s_awaited (self) < AWAITED_MAX;
        status = more ? s_ask (self, asked++, tokens, error) : s_turn (self, error);
    }
    return status;
}

status_t
bench_load_drain (bench_load_t *self, error_t *error)
{
    status_t status = STATUS_OK;
    while (!status && poll (self->files, self->count, QUIET_MS) > 0)
        status = s_turn (self, error);
    return status;
}
