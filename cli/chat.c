#include "cli/chat.h"

#include <curl/curl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/json.h"
#include "base/json_writer.h"
#include "runtime/endpoint.h"

enum { URL_MAX = 512, HTTP_OK = 200, POLL_MS = 100, BODY_MAX = 1 << 20 };

static atomic_bool s_stopped;

//  What has come of an answer.
typedef struct {
    buffer_t line;       //  Of the event stream, not yet whole; or the whole body
    bool streamed;       //  Event stream: print what it says
    uint64_t printed;    //  Bytes of text
    char error [256];    //  What the server said instead
} answer_t;

void
chat_stop (void)
{
    atomic_store (&s_stopped, true);
}

//  ---- What comes ----------------------------------------------------------------------------------------------------

//  One line of the event stream: `data: {"choices": [{"delta": {"content": "..."}}]}`.
static void
s_take_line (answer_t *self, span_t line)
{
    json_t *event = NULL;
    if (!span_starts_with (line, SPAN ("data: ")) ||
        json_parse (span_slice (line, 6, SIZE_MAX), &event, NULL) != STATUS_OK)
        return;
    span_t text = json_string (json_get_path (json_at (json_get (event, "choices"), 0), "delta.content"));
    span_t error = json_string (json_get_path (event, "error.message"));
    if (text.size)
        fwrite (text.data, 1, text.size, stdout);
    fflush (stdout);
    self->printed += text.size;
    if (error.size)
        span_copy_string (error, self->error, sizeof self->error);
    json_destroy (&event);
}

static size_t
s_on_data (char *data, size_t size, size_t count, void *arg)
{
    answer_t *self = arg;
    buffer_append (&self->line, span_of (data, size * count));
    if (self->line.size > BODY_MAX)
        return 0;
    for (size_t end; self->streamed && (end = span_find_byte (buffer_span (&self->line), '\n')) < self->line.size;) {
        s_take_line (self, span_trim (span_of (self->line.data, end)));
        buffer_drop_front (&self->line, end + 1);
    }
    return size * count;
}

static int
s_on_progress (void *arg, curl_off_t a, curl_off_t b, curl_off_t c, curl_off_t d)
{
    return atomic_load (&s_stopped);
}

//  ---- Requests ------------------------------------------------------------------------------------------------------

//  Returns the HTTP status; 0 where there was none.  body: NULL for a GET.
static long
s_request (const chat_t *self, const char *path, const buffer_t *body, answer_t *answer)
{
    char server [URL_MAX], url [2 * URL_MAX];
    long code = 0;
    CURL *curl = curl_easy_init ();
    struct curl_slist *headers = curl_slist_append (NULL, "Content-Type: application/json");
    host_write_server (span_from_string (self->host), self->port, server, sizeof server);
    snprintf (url, sizeof url, "http://%s%s", server, path);
    curl_easy_setopt (curl, CURLOPT_URL, url);
    curl_easy_setopt (curl, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt (curl, CURLOPT_NOPROXY, "*");
    curl_easy_setopt (curl, CURLOPT_NOPROGRESS, 0L);
    curl_easy_setopt (curl, CURLOPT_XFERINFOFUNCTION, s_on_progress);
    curl_easy_setopt (curl, CURLOPT_WRITEFUNCTION, s_on_data);
    curl_easy_setopt (curl, CURLOPT_WRITEDATA, answer);
    if (body) {
        curl_easy_setopt (curl, CURLOPT_HTTPHEADER, headers);
        curl_easy_setopt (curl, CURLOPT_POSTFIELDS, (const char *)body->data);
        curl_easy_setopt (curl, CURLOPT_POSTFIELDSIZE, (long)body->size);
    }
    if (curl_easy_perform (curl) == CURLE_OK)
        curl_easy_getinfo (curl, CURLINFO_RESPONSE_CODE, &code);
    curl_slist_free_all (headers);
    curl_easy_cleanup (curl);
    return code;
}

static bool
s_lists_model (const answer_t *answer, const char *model)
{
    json_t *list = NULL;
    bool found = false;
    if (json_parse (buffer_span (&answer->line), &list, NULL) == STATUS_OK) {
        const json_t *data = json_get (list, "data");
        for (size_t i = 0; i < json_count (data) && !found; i++)
            found = span_equal_string (json_string (json_get (json_at (data, i), "id")), model);
    }
    json_destroy (&list);
    return found;
}

//  Asks once.
static bool
s_find_model (chat_t *self)
{
    answer_t answer = { 0 };
    if (!self->port)
        self->port = self->find_port (self->arg);
    bool found =
        self->port && s_request (self, "/v1/models", NULL, &answer) == HTTP_OK && s_lists_model (&answer, self->model);
    buffer_fini (&answer.line);
    return found;
}

static uint64_t
s_now_ms (void)
{
    struct timespec now;
    clock_gettime (CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

//  Asks until the model is listed; false where it was stopped, or nobody has patience or hope any more.
static bool
s_wait_for_model (chat_t *self)
{
    static const struct timespec pause = { .tv_nsec = POLL_MS * 1000000L };
    uint64_t until_ms = s_now_ms () + self->patience_s * UINT64_C (1000);
    while (!self->gave_up && !atomic_load (&s_stopped)) {
        if (s_find_model (self))
            return true;
        self->gave_up = self->look && !self->look (self->arg);
        if (!self->gave_up && s_now_ms () >= until_ms) {
            command_complain (NULL, "%s did not become ready in %u s", self->model, self->patience_s);
            self->gave_up = true;
        }
        clock_nanosleep (CLOCK_MONOTONIC, 0, &pause, NULL);
    }
    return false;
}

static void
s_write_question (const chat_t *self, buffer_t *out)
{
    json_writer_t json;
    json_writer_init (&json, out);
    json_write_begin_object (&json);
    json_write_key (&json, "model");
    json_write_string (&json, span_from_string (self->model));
    json_write_key (&json, "stream");
    json_write_bool (&json, true);
    json_write_key (&json, "max_tokens");
    json_write_u64 (&json, 64);
    json_write_key (&json, "messages");
    json_write_begin_array (&json);
    json_write_begin_object (&json);
    json_write_key (&json, "role");
    json_write_string (&json, SPAN ("user"));
    json_write_key (&json, "content");
    json_write_string (&json, span_from_string (self->prompt));
    json_write_end_object (&json);
    json_write_end_array (&json);
    json_write_end_object (&json);
}

static result_t
s_report (const chat_t *self, long code, answer_t *answer)
{
    printf ("\n");
    fflush (stdout);
    if (code == HTTP_OK && answer->printed && !*answer->error)
        return RESULT_OK;
    if (!atomic_load (&s_stopped))
        command_complain (NULL, "%s did not answer: HTTP %ld %s%.*s", self->model, code, answer->error,
            SPAN_ARG (buffer_span (&answer->line)));
    return RESULT_FAILED;
}

result_t
chat_run (chat_t *self)
{
    if (!s_wait_for_model (self))
        return RESULT_FAILED;
    buffer_t question = { 0 };
    answer_t answer = { .streamed = true };
    s_write_question (self, &question);
    printf ("\n%s> %s\n", self->model, self->prompt);
    long code = s_request (self, "/v1/chat/completions", &question, &answer);
    result_t result = s_report (self, code, &answer);
    buffer_fini (&answer.line);
    buffer_fini (&question);
    return result;
}

void
chat_print_hints (const chat_t *self, const char *program, const char *which)
{
    char server [URL_MAX];
    host_write_server (span_from_string (self->host), self->port, server, sizeof server);
    printf ("\nThe fleet stays up. Try:\n"
            "  curl http://%s/v1/chat/completions -H 'Content-Type: application/json' \\\n"
            "      -d '{\"model\": \"%s\", \"messages\": [{\"role\": \"user\", \"content\": \"Hello\"}]}'\n"
            "  %s tail%s  watch what happens\n"
            "  %s ps%s    what runs\n"
            "  %-*s  stop\n",
        server, self->model, program, which, program, which,
        (int)(strlen (program) + strlen (" tail") + strlen (which)), "Ctrl-C");
    fflush (stdout);
}
