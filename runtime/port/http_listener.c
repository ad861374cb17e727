#include "runtime/port/http_listener.h"

#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/bug.h"
#include "base/memory.h"
#include "runtime/port/http_exchange.h"
#include "runtime/port/occupant.h"

enum { BACKLOG = 4096, RETRY_NS = 100000000, RESERVE_MAX = 1024 };

#define SECONDS(count) ((count)*1000000000ull)

//  ---- Accepting -----------------------------------------------------------------------------------------------------

static const int s_refusals [] = { 400, 408, 413, 417, 431, 503 };

void
http_listener_count_refusal (port_listener_t *self, int status)
{
    for (size_t i = 0; i < sizeof s_refusals / sizeof *s_refusals; i++)
        if (s_refusals [i] == status)
            self->figures.refused [i]++;
}

static void
s_refuse_connection (port_listener_t *self, int fd)
{
    static const char text [] = "HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
    ssize_t sent = send (fd, text, sizeof text - 1, MSG_DONTWAIT | MSG_NOSIGNAL);
    (void)sent;
    close (fd);
    http_listener_count_refusal (self, 503);
}

static void
s_describe (const struct sockaddr *address, socklen_t size, char text [HTTP_ADDRESS_SIZE])
{
    char host [64], service [16];
    bool is_path = address->sa_family == AF_UNIX;
    if (is_path ||
        getnameinfo (address, size, host, sizeof host, service, sizeof service, NI_NUMERICHOST | NI_NUMERICSERV) != 0)
        snprintf (text, HTTP_ADDRESS_SIZE, "unix");
    else
        snprintf (text, HTTP_ADDRESS_SIZE, address->sa_family == AF_INET6 ? "[%s]:%s" : "%s:%s", host, service);
}

//  Small pieces leave at once, a client whose machine is gone is noticed within a minute though nothing is written, and the
//  kernel keeps little for one that does not read: it would take megabytes.
static const struct {
    int level;    //  As setsockopt wants it
    int name;     //  As setsockopt wants it
    int value;    //  Seconds where it is a time
} s_socket_options [] = {
    { IPPROTO_TCP, TCP_NODELAY, 1 },
    { IPPROTO_TCP, TCP_NOTSENT_LOWAT, EXCHANGE_HIGH_MARK },
    { SOL_SOCKET, SO_KEEPALIVE, 1 },
    { IPPROTO_TCP, TCP_KEEPIDLE, 30 },
    { IPPROTO_TCP, TCP_KEEPINTVL, 10 },
    { IPPROTO_TCP, TCP_KEEPCNT, 3 },
};

//  On a Unix socket, which has none of them, they fail and nobody minds.
static void
s_prepare_socket (int fd)
{
    for (size_t i = 0; i < sizeof s_socket_options / sizeof *s_socket_options; i++)
        setsockopt (fd, s_socket_options [i].level, s_socket_options [i].name, &s_socket_options [i].value,
            sizeof s_socket_options [i].value);
}

//  A quarter of the process's descriptors, 1,024 at most, are kept for what is not HTTP: where an ipc listener of libzmq
//  4.3 finds none left it aborts the process.  The system gives the lowest free number, so that one says how many are used.
static bool
s_is_reserved (int fd)
{
    struct rlimit limit;
    if (getrlimit (RLIMIT_NOFILE, &limit) != 0)
        return false;
    rlim_t reserve = limit.rlim_cur / 4 < RESERVE_MAX ? limit.rlim_cur / 4 : RESERVE_MAX;
    return (rlim_t)fd >= limit.rlim_cur - reserve;
}

static void
s_on_accept (struct evconnlistener *acceptor, evutil_socket_t fd, struct sockaddr *address, int size, void *arg)
{
    port_listener_t *self = arg;
    if (self->figures.connections >= self->options.connections_max || s_is_reserved (fd)) {
        s_refuse_connection (self, fd);
        return;
    }
    s_prepare_socket (fd);
    struct bufferevent *stream = bufferevent_socket_new (loop_base (self->loop), fd, 0);
    BUG_ON (!stream);
    char peer [HTTP_ADDRESS_SIZE];
    s_describe (address, (socklen_t)size, peer);
    http_connection_new (self, stream, peer);
}

//  Without a pause the loop would spin: the connection stays in the queue and is reported again at once.
static void
s_on_accept_error (struct evconnlistener *acceptor, void *arg)
{
    port_listener_t *self = arg;
    evconnlistener_disable (acceptor);
    loop_event_after (self->retry, RETRY_NS);
}

static void
s_on_retry (evutil_socket_t fd, short what, void *arg)
{
    port_listener_t *self = arg;
    if (self->acceptor)
        evconnlistener_enable (self->acceptor);
}

//  ---- Binding -------------------------------------------------------------------------------------------------------

typedef struct {
    struct sockaddr_storage storage;    //  Any family
    socklen_t size;                     //  Bytes used of it
} address_t;

static status_t
s_parse_unix (const char *path, address_t *address, error_t *error)
{
    status_t status = occupant_free_unix_path (path, error);
    if (status != STATUS_OK)
        return status;
    struct sockaddr_un *name = (struct sockaddr_un *)&address->storage;
    name->sun_family = AF_UNIX;
    memcpy (name->sun_path, path, strlen (path));
    address->size = sizeof *name;
    return STATUS_OK;
}

//  "HOST:PORT" or "[HOST]:PORT".
static status_t
s_parse_inet (const char *text, address_t *address, error_t *error)
{
    const char *colon = strrchr (text, ':');
    span_t host = span_of (text, colon ? (size_t)(colon - text) : 0);
    uint64_t port;
    if (!colon || !span_to_u64 (span_from_string (colon + 1), &port) || port > UINT16_MAX)
        return error_set (error, STATUS_INVALID, "%s is not HOST:PORT, [HOST]:PORT or unix:PATH", text);
    if (host.size > 2 && host.data [0] == '[' && host.data [host.size - 1] == ']')
        host = span_slice (host, 1, host.size - 2);
    char name [HTTP_ADDRESS_SIZE];
    struct addrinfo hints = { .ai_flags = AI_PASSIVE | AI_NUMERICSERV, .ai_socktype = SOCK_STREAM }, *found = NULL;
    int rc = span_copy_string (host, name, sizeof name) ? getaddrinfo (name, colon + 1, &hints, &found) : EAI_NONAME;
    if (rc != 0)
        return error_set (error, STATUS_INVALID, "%s: %s", text, gai_strerror (rc));
    memcpy (&address->storage, found->ai_addr, found->ai_addrlen);
    address->size = found->ai_addrlen;
    freeaddrinfo (found);
    return STATUS_OK;
}

static const char *
s_unix_path (const char *address)
{
    return strncmp (address, "unix:", 5) == 0 ? address + 5 : NULL;
}

static status_t
s_fail_bind (const char *text, int reason, error_t *error)
{
    if (reason != EADDRINUSE)
        return error_set (error, reason == EACCES ? STATUS_REFUSED : STATUS_INVALID, "cannot listen on %s: %s", text,
            strerror (reason));
    uint64_t port = 0;
    char occupant [OCCUPANT_TEXT_MAX];
    span_to_u64 (span_from_string (strrchr (text, ':') + 1), &port);
    occupant_of_tcp ((uint16_t)port, occupant);
    return error_set (error, STATUS_EXISTS, "cannot listen on %s: the port is held by %s", text, occupant);
}

static void
s_note_address (port_listener_t *self, const char *text)
{
    address_t bound = { .size = sizeof bound.storage };
    getsockname (evconnlistener_get_fd (self->acceptor), (struct sockaddr *)&bound.storage, &bound.size);
    if (s_unix_path (text))
        snprintf (self->address, sizeof self->address, "%s", text);
    else
        s_describe ((struct sockaddr *)&bound.storage, bound.size, self->address);
}

static status_t
s_bind (port_listener_t *self, const char *text, error_t *error)
{
    const char *path = s_unix_path (text);
    address_t address = { 0 };
    status_t status = path ? s_parse_unix (path, &address, error) : s_parse_inet (text, &address, error);
    if (status != STATUS_OK) {
        error_prefix (error, "cannot listen");
        return status;
    }
    self->acceptor = evconnlistener_new_bind (loop_base (self->loop), s_on_accept, self,
        LEV_OPT_CLOSE_ON_FREE | LEV_OPT_CLOSE_ON_EXEC | LEV_OPT_REUSEABLE, BACKLOG, (struct sockaddr *)&address.storage,
        (int)address.size);
    if (!self->acceptor)
        return s_fail_bind (text, errno, error);
    evconnlistener_set_error_cb (self->acceptor, s_on_accept_error);
    s_note_address (self, text);
    return STATUS_OK;
}

status_t
http_listener_check (const char *text, error_t *error)
{
    address_t address = { 0 };
    status_t status = s_parse_inet (text, &address, error);
    if (status != STATUS_OK)
        return status;
    int yes = 1, fd = socket (address.storage.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    setsockopt (fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    if (bind (fd, (struct sockaddr *)&address.storage, address.size) != 0)
        status = s_fail_bind (text, errno, error);
    if (fd >= 0)
        close (fd);
    return status;
}

//  ---- Open and close ------------------------------------------------------------------------------------------------

static uint64_t
s_or (uint64_t value, uint64_t fallback)
{
    return value ? value : fallback;
}

static listener_options_t
s_with_defaults (const listener_options_t *options)
{
    listener_options_t result = *options;
    result.head_max = s_or (options->head_max, 64 << 10);
    result.head_timeout_ns = s_or (options->head_timeout_ns, SECONDS (10));
    result.body_max = s_or (options->body_max, 64 << 20);
    result.body_timeout_ns = s_or (options->body_timeout_ns, SECONDS (60));
    result.body_budget = s_or (options->body_budget, 1 << 30);
    result.idle_timeout_ns = s_or (options->idle_timeout_ns, SECONDS (75));
    result.write_timeout_ns = s_or (options->write_timeout_ns, SECONDS (30));
    result.connections_max = (uint32_t)s_or (options->connections_max, 20000);
    return result;
}

port_listener_t *
http_listener_new (loop_t *loop, const listener_options_t *options)
{
    port_listener_t *self = memory_new (sizeof *self);
    self->loop = loop;
    self->options = s_with_defaults (options);
    self->retry = loop_event (loop, -1, 0, s_on_retry, self);
    list_init (&self->connections);
    budget_init (&self->bodies, "request bodies", self->options.body_budget);
    return self;
}

port_listener_t *
http_listener_open (loop_t *loop, const char *address, const listener_options_t *options, error_t *error)
{
    port_listener_t *self = http_listener_new (loop, options);
    if (s_bind (self, address, error) != STATUS_OK) {
        http_listener_close (self);
        return NULL;
    }
    return self;
}

const char *
http_listener_address (const port_listener_t *self)
{
    return self->address;
}

void
http_listener_figures (const port_listener_t *self, listener_figures_t *figures)
{
    *figures = self->figures;
    figures->body_bytes = self->bodies.used;
}

static void
s_stop_accepting (port_listener_t *self)
{
    if (!self->acceptor)
        return;
    evconnlistener_free (self->acceptor);
    self->acceptor = NULL;
    if (s_unix_path (self->address))
        unlink (s_unix_path (self->address));
}

//  Connections that wait for a request are ended; the others end with their exchange.
void
http_listener_stop (port_listener_t *self)
{
    s_stop_accepting (self);
    self->is_stopped = true;
    list_link_t *next;
    for (list_link_t *link = list_first (&self->connections); link; link = next) {
        next = list_next (&self->connections, link);
        http_connection_retire (http_connection_of (link));
    }
}

void
http_listener_close (port_listener_t *self)
{
    BUG_ON (self->exchanges);
    http_listener_stop (self);
    for (list_link_t *link; (link = list_first (&self->connections)) != NULL;)
        http_connection_close (http_connection_of (link));
    event_free (self->retry);
    buffer_fini (&self->spare);
    memory_free (self);
}
