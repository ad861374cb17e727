#include "runtime/port/http_client.h"

#include <curl/curl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/bug.h"
#include "base/memory.h"

enum {
    READ_SIZE = 16 << 10,      //  Bytes of one on_data at most
    CONNECTIONS_KEPT = 256,    //  Idle ones, for the next fetch to the same place
    HEAD_MAX = 256 << 10,      //  Bytes of all response headers
    REASON_SIZE = 96,          //  Bytes of our own sentences
    URL_MAX_SHOWN = 200,       //  Bytes of the URL in a sentence
};

#define CONNECT_DEFAULT_NS 5000000000ull

struct http_client {
    loop_t *loop;           //  Of the owner's thread
    CURLM *multi;           //  All transfers
    struct event *timer;    //  When libcurl wants to be called
    list_t fetches;         //  port_fetch_t that are not freed yet
};

struct port_fetch {
    list_link_t link;                   //  In the client's list
    http_client_t *client;              //  Whose it is
    CURL *easy;                         //  The transfer
    struct curl_slist *headers;         //  Of the request
    char *url;                          //  For sentences
    fetch_options_t options;            //  Callbacks and limits; what it borrowed is gone
    keeper_t keeper;                    //  Of the body, which libcurl reads where it lies
    loop_task_t work;                   //  Does what was asked for
    struct event *idle;                 //  Looks whether bytes came
    uint64_t last_ns;                   //  When the last byte came, or the start
    uint64_t received;                  //  Bytes of the body
    uint64_t head_bytes;                //  Bytes of headers
    bool is_started;                    //  libcurl has it
    bool is_cancelled;                  //  Calls nobody any more
    bool is_paused;                     //  The caller wants no data
    bool is_held;                       //  libcurl was told so, and keeps what it has
    bool has_head;                      //  on_head was called
    status_t failure;                   //  Why we ended it; STATUS_OK where we did not
    char reason [REASON_SIZE];          //  The sentence of it
    char sentence [CURL_ERROR_SIZE];    //  libcurl's
};

//  ---- The end of a fetch --------------------------------------------------------------------------------------------

static void
s_free (port_fetch_t *self)
{
    if (self->is_started)
        curl_multi_remove_handle (self->client->multi, self->easy);
    curl_easy_cleanup (self->easy);
    curl_slist_free_all (self->headers);
    loop_undefer (self->client->loop, &self->work);
    event_free (self->idle);
    list_remove (&self->client->fetches, &self->link);
    keeper_release (&self->keeper);
    memory_free (self->url);
    memory_free (self);
}

static const struct {
    CURLcode code;      //  libcurl's
    status_t status;    //  What it means to the caller
} s_statuses [] = {
    { CURLE_OK, STATUS_OK },
    { CURLE_OPERATION_TIMEDOUT, STATUS_DEADLINE },
    { CURLE_COULDNT_RESOLVE_HOST, STATUS_UNREACHABLE },
    { CURLE_COULDNT_CONNECT, STATUS_UNREACHABLE },
    { CURLE_UNSUPPORTED_PROTOCOL, STATUS_CORRUPT },
    { CURLE_WEIRD_SERVER_REPLY, STATUS_CORRUPT },
    { CURLE_PEER_FAILED_VERIFICATION, STATUS_REFUSED },
    { CURLE_SSL_CONNECT_ERROR, STATUS_REFUSED },
};

static status_t
s_status_of (CURLcode code)
{
    for (size_t i = 0; i < sizeof s_statuses / sizeof *s_statuses; i++)
        if (s_statuses [i].code == code)
            return s_statuses [i].status;
    return STATUS_IO;
}

static void
s_finish (port_fetch_t *self, CURLcode code)
{
    fetch_options_t options = self->options;
    bool is_cancelled = self->is_cancelled;
    status_t status = self->failure != STATUS_OK ? self->failure : s_status_of (code);
    const char *sentence = self->sentence [0] ? self->sentence : curl_easy_strerror (code);
    error_t error = { 0 };
    if (status != STATUS_OK)
        error_set (&error, status, "%.*s: %s", URL_MAX_SHOWN, self->url, self->failure ? self->reason : sentence);
    s_free (self);
    if (!is_cancelled && options.on_end)
        options.on_end (options.arg, status, &error);
}

//  Notes why libcurl is going to be told to give up.
static void s_fail (port_fetch_t *self, status_t status, const char *format, ...)
    __attribute__ ((format (printf, 3, 4)));

static void
s_fail (port_fetch_t *self, status_t status, const char *format, ...)
{
    va_list arguments;
    va_start (arguments, format);
    vsnprintf (self->reason, sizeof self->reason, format, arguments);
    va_end (arguments);
    self->failure = status;
}

static void
s_reap (http_client_t *self)
{
    int left;
    for (CURLMsg *message; (message = curl_multi_info_read (self->multi, &left)) != NULL;) {
        if (message->msg != CURLMSG_DONE)
            continue;
        CURLcode code = message->data.result;
        port_fetch_t *fetch = NULL;
        curl_easy_getinfo (message->easy_handle, CURLINFO_PRIVATE, (char **)&fetch);
        s_finish (fetch, code);
    }
}

//  ---- libcurl on the loop -------------------------------------------------------------------------------------------

static void
s_act (http_client_t *self, curl_socket_t fd, int what)
{
    int running;
    loop_note (self->loop);
    curl_multi_socket_action (self->multi, fd, what, &running);
    s_reap (self);
}

static void
s_on_ready (evutil_socket_t fd, short what, void *arg)
{
    s_act (arg, fd, (what & EV_READ ? CURL_CSELECT_IN : 0) | (what & EV_WRITE ? CURL_CSELECT_OUT : 0));
}

static void
s_on_timer (evutil_socket_t fd, short what, void *arg)
{
    s_act (arg, CURL_SOCKET_TIMEOUT, 0);
}

static int
s_on_socket_wanted (CURL *easy, curl_socket_t fd, int what, void *arg, void *watch)
{
    http_client_t *self = arg;
    if (watch)
        event_free (watch);
    struct event *event = NULL;
    if (what != CURL_POLL_REMOVE) {
        short kinds = (short)((what & CURL_POLL_IN ? EV_READ : 0) | (what & CURL_POLL_OUT ? EV_WRITE : 0));
        event = loop_event (self->loop, fd, kinds | EV_PERSIST, s_on_ready, self);
        BUG_ON (event_add (event, NULL) != 0);
    }
    curl_multi_assign (self->multi, fd, event);
    return 0;
}

static int
s_on_timer_wanted (CURLM *multi, long timeout_ms, void *arg)
{
    http_client_t *self = arg;
    if (timeout_ms < 0)
        event_del (self->timer);
    else
        loop_event_after (self->timer, (uint64_t)timeout_ms * 1000000u);
    return 0;
}

//  ---- What arrives --------------------------------------------------------------------------------------------------

static bool
s_is_end_of_head (const char *line, size_t size)
{
    return size == 2 && line [0] == '\r' && line [1] == '\n';
}

static size_t
s_on_header (char *line, size_t one, size_t size, void *arg)
{
    port_fetch_t *self = arg;
    long status = 0;
    self->last_ns = loop_now_ns ();
    self->head_bytes += size;
    if (self->head_bytes > HEAD_MAX) {
        s_fail (self, STATUS_LIMIT, "the response headers are larger than %d bytes", HEAD_MAX);
        return 0;
    }
    curl_easy_getinfo (self->easy, CURLINFO_RESPONSE_CODE, &status);
    if (!s_is_end_of_head (line, size) || status < 200 || self->has_head)
        return self->is_cancelled ? 0 : size;
    self->has_head = true;
    if (self->options.on_head && !self->is_cancelled)
        self->options.on_head (self->options.arg, (int)status);
    return self->is_cancelled ? 0 : size;
}

static size_t
s_on_bytes (char *bytes, size_t one, size_t size, void *arg)
{
    port_fetch_t *self = arg;
    if (self->is_cancelled)
        return 0;
    if (self->is_paused) {
        self->is_held = true;
        return CURL_WRITEFUNC_PAUSE;
    }
    self->last_ns = loop_now_ns ();
    self->received += size;
    if (self->options.response_max && self->received > self->options.response_max) {
        s_fail (self, STATUS_LIMIT, "the response is larger than %" PRIu64 " bytes", self->options.response_max);
        return 0;
    }
    if (self->options.on_data)
        self->options.on_data (self->options.arg, span_of (bytes, size));
    return self->is_cancelled ? 0 : size;
}

//  While the caller has paused, no byte is not the server's fault.
static void
s_on_idle (evutil_socket_t fd, short what, void *arg)
{
    port_fetch_t *self = arg;
    uint64_t now = loop_now_ns (), limit = self->options.idle_timeout_ns;
    if (self->is_paused)
        self->last_ns = now;
    uint64_t silent = now - self->last_ns;
    if (silent < limit) {
        loop_event_after (self->idle, limit - silent);
        return;
    }
    s_fail (self, STATUS_DEADLINE, "no byte for %" PRIu64 " ms", limit / 1000000u);
    s_finish (self, CURLE_OPERATION_TIMEDOUT);
}

//  ---- What is asked for ---------------------------------------------------------------------------------------------

static void
s_begin (port_fetch_t *self)
{
    self->is_started = true;
    self->last_ns = loop_now_ns ();
    if (self->options.idle_timeout_ns != PORT_NEVER)
        loop_event_after (self->idle, self->options.idle_timeout_ns);
    BUG_ON (curl_multi_add_handle (self->client->multi, self->easy) != CURLM_OK);
}

static void
s_work (void *arg)
{
    port_fetch_t *self = arg;
    if (self->is_cancelled)
        s_free (self);
    else if (!self->is_started)
        s_begin (self);
    else if (self->is_held && !self->is_paused) {
        self->is_held = false;
        self->last_ns = loop_now_ns ();
        curl_easy_pause (self->easy, CURLPAUSE_CONT);
    }
}

void
http_fetch_pause (port_fetch_t *self, bool paused)
{
    self->is_paused = paused;
    if (!paused)
        loop_defer (self->client->loop, &self->work);
}

void
http_fetch_cancel (port_fetch_t *self)
{
    self->is_cancelled = true;
    loop_defer (self->client->loop, &self->work);
}

//  ---- Making a fetch ------------------------------------------------------------------------------------------------

static status_t
s_check_url (const char *url, error_t *error)
{
    CURLU *parts = curl_url ();
    BUG_ON (!parts);
    char *scheme = NULL;
    CURLUcode rc = curl_url_set (parts, CURLUPART_URL, url, 0);
    if (rc == CURLUE_OK)
        rc = curl_url_get (parts, CURLUPART_SCHEME, &scheme, 0);
    bool is_http = rc == CURLUE_OK && (strcmp (scheme, "http") == 0 || strcmp (scheme, "https") == 0);
    curl_free (scheme);
    curl_url_cleanup (parts);
    if (is_http)
        return STATUS_OK;
    return error_set (error, STATUS_INVALID, "\"%.*s\" is not an http or https address: %s", URL_MAX_SHOWN, url,
        rc == CURLUE_OK ? "another scheme" : curl_url_strerror (rc));
}

static bool
s_is_one_line (span_t text)
{
    for (size_t i = 0; i < text.size; i++)
        if ((text.data [i] < ' ' && text.data [i] != '\t') || text.data [i] == 0x7f)
            return false;
    return true;
}

static void
s_add_header (port_fetch_t *self, const char *line)
{
    struct curl_slist *longer = curl_slist_append (self->headers, line);
    BUG_ON (!longer);
    self->headers = longer;
}

//  libcurl's spelling: "Name: value" sends, "Name;" sends an empty value, "Name:" leaves out what it would add.
static status_t
s_add_headers (port_fetch_t *self, const fetch_options_t *options, error_t *error)
{
    s_add_header (self, "Expect:");
    s_add_header (self, "Content-Type:");
    for (size_t i = 0; i < options->header_count; i++) {
        const http_header_t *header = &options->headers [i];
        if (!header->name.size || !s_is_one_line (header->name) || !s_is_one_line (header->value))
            return error_set (error, STATUS_INVALID, "header \"%.*s\" has control bytes or no name",
                SPAN_ARG (span_slice (header->name, 0, 100)));
        buffer_t line = { 0 };
        if (header->value.size)
            buffer_print (&line, "%.*s: %.*s", SPAN_ARG (header->name), SPAN_ARG (header->value));
        else
            buffer_print (&line, "%.*s;", SPAN_ARG (header->name));
        s_add_header (self, buffer_string (&line));
        buffer_fini (&line);
    }
    return STATUS_OK;
}

static void
s_set_body (port_fetch_t *self, const fetch_options_t *options)
{
    bool has_none =
        !options->body.size && strcmp (options->method, "POST") != 0 && strcmp (options->method, "PUT") != 0;
    if (strcmp (options->method, "HEAD") == 0)
        curl_easy_setopt (self->easy, CURLOPT_NOBODY, 1L);
    else if (!has_none) {
        CURLoption fields = self->keeper.release ? CURLOPT_POSTFIELDS : CURLOPT_COPYPOSTFIELDS;
        curl_easy_setopt (self->easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)options->body.size);
        curl_easy_setopt (self->easy, fields, options->body.size ? (const char *)options->body.data : "");
    }
    curl_easy_setopt (self->easy, CURLOPT_CUSTOMREQUEST, options->method);
}

static long
s_ms (uint64_t time_ns)
{
    uint64_t ms = (time_ns + 999999u) / 1000000u;
    return ms > INT32_MAX ? INT32_MAX : (long)ms;
}

static void
s_configure (port_fetch_t *self, const fetch_options_t *options)
{
    CURL *easy = self->easy;
    curl_easy_setopt (easy, CURLOPT_PRIVATE, (char *)self);
    curl_easy_setopt (easy, CURLOPT_URL, options->url);
    curl_easy_setopt (easy, CURLOPT_HTTPHEADER, self->headers);
    curl_easy_setopt (easy, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
    curl_easy_setopt (easy, CURLOPT_PROTOCOLS_STR, "http,https");
    curl_easy_setopt (easy, CURLOPT_PROXY, "");
    curl_easy_setopt (easy, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt (easy, CURLOPT_TCP_KEEPALIVE, 1L);
    curl_easy_setopt (easy, CURLOPT_TCP_KEEPIDLE, 30L);
    curl_easy_setopt (easy, CURLOPT_TCP_KEEPINTVL, 10L);
    curl_easy_setopt (easy, CURLOPT_BUFFERSIZE, (long)READ_SIZE);
    curl_easy_setopt (easy, CURLOPT_ERRORBUFFER, self->sentence);
    curl_easy_setopt (easy, CURLOPT_HEADERFUNCTION, s_on_header);
    curl_easy_setopt (easy, CURLOPT_HEADERDATA, self);
    curl_easy_setopt (easy, CURLOPT_WRITEFUNCTION, s_on_bytes);
    curl_easy_setopt (easy, CURLOPT_WRITEDATA, self);
    curl_easy_setopt (easy, CURLOPT_CONNECTTIMEOUT_MS,
        s_ms (options->connect_timeout_ns ? options->connect_timeout_ns : CONNECT_DEFAULT_NS));
    curl_easy_setopt (easy, CURLOPT_TIMEOUT_MS, s_ms (options->total_timeout_ns));
}

port_fetch_t *
http_fetch_start (http_client_t *client, const fetch_options_t *options, error_t *error)
{
    keeper_t keeper = options->keeper ? keeper_take (options->keeper) : (keeper_t){ 0 };
    if (s_check_url (options->url, error) != STATUS_OK) {
        keeper_release (&keeper);
        return NULL;
    }
    port_fetch_t *self = memory_new (sizeof *self);
    self->client = client;
    self->keeper = keeper;
    self->easy = curl_easy_init ();
    BUG_ON (!self->easy);
    self->url = memory_copy_string (options->url);
    self->options = *options;
    self->work = (loop_task_t){ .run = s_work, .arg = self };
    self->idle = loop_event (client->loop, -1, 0, s_on_idle, self);
    list_append (&client->fetches, &self->link);
    if (s_add_headers (self, options, error) != STATUS_OK) {
        s_free (self);
        return NULL;
    }
    s_configure (self, options);
    s_set_body (self, options);
    loop_defer (client->loop, &self->work);
    return self;
}

//  ---- New and destroy -----------------------------------------------------------------------------------------------

http_client_t *
http_client_new (loop_t *loop)
{
    http_client_t *self = memory_new (sizeof *self);
    self->loop = loop;
    list_init (&self->fetches);
    self->timer = loop_event (loop, -1, 0, s_on_timer, self);
    self->multi = curl_multi_init ();
    BUG_ON (!self->multi);
    curl_multi_setopt (self->multi, CURLMOPT_SOCKETFUNCTION, s_on_socket_wanted);
    curl_multi_setopt (self->multi, CURLMOPT_SOCKETDATA, self);
    curl_multi_setopt (self->multi, CURLMOPT_TIMERFUNCTION, s_on_timer_wanted);
    curl_multi_setopt (self->multi, CURLMOPT_TIMERDATA, self);
    curl_multi_setopt (self->multi, CURLMOPT_MAXCONNECTS, (long)CONNECTIONS_KEPT);
    return self;
}

void
http_client_destroy (http_client_t **self_p)
{
    http_client_t *self = *self_p;
    if (!self)
        return;
    for (list_link_t *link; (link = list_first (&self->fetches)) != NULL;) {
        port_fetch_t *fetch = LIST_ENTRY (link, port_fetch_t, link);
        BUG_ON (!fetch->is_cancelled);
        s_free (fetch);
    }
    curl_multi_cleanup (self->multi);
    event_free (self->timer);
    memory_free (self);
    *self_p = NULL;
}
