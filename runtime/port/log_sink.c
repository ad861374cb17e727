#include "runtime/port/log_sink.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/memory.h"

enum { LINE_MAX_BYTES = 16 << 10, LAST_MAX_BYTES = 1000 };

struct log_sink {
    int fd;                   //  Where lines go; does not block
    int tail_fd;              //  The same file for reading, whose last byte tells whether a line was torn; -1: no file
    bool is_human;            //  Time and level in front, instead of JSON
    pthread_mutex_t mutex;    //  Guards all below
    log_level_t level;        //  Lines below it are left out
    buffer_t line;            //  Being made, or the rest of one that was taken in part
    size_t written;           //  Bytes of it that were taken
    uint64_t lost;            //  Lines that were not taken
    uint64_t untold;          //  Those of them that no line has told of yet
};

static const char *const s_names [] = {
    [LOG_DEBUG] = "debug",
    [LOG_INFO] = "info",
    [LOG_WARNING] = "warning",
    [LOG_ERROR] = "error",
};

//  ---- Making a line -------------------------------------------------------------------------------------------------

static void
s_append_time (buffer_t *out, uint64_t wall_ns, bool is_human)
{
    time_t seconds = (time_t)(wall_ns / 1000000000u);
    struct tm parts;
    char text [40];
    if (is_human)
        localtime_r (&seconds, &parts);
    else
        gmtime_r (&seconds, &parts);
    strftime (text, sizeof text, is_human ? "%H:%M:%S" : "%Y-%m-%dT%H:%M:%S", &parts);
    buffer_print (out, "%s.%03" PRIu64 "%s", text, wall_ns % 1000000000u / 1000000u, is_human ? "" : "Z");
}

//  Control bytes would steer the terminal, or break the line in two.
static void
s_append_printable (buffer_t *out, span_t text)
{
    for (size_t i = 0; i < text.size; i++)
        buffer_append_byte (out, text.data [i] < ' ' || text.data [i] == 0x7f ? ' ' : text.data [i]);
}

static void
s_append_escaped (buffer_t *out, span_t text)
{
    for (size_t i = 0; i < text.size; i++) {
        uint8_t byte = text.data [i];
        if (byte == '"' || byte == '\\')
            buffer_print (out, "\\%c", byte);
        else if (byte < ' ' || byte == 0x7f)
            buffer_print (out, "\\u%04x", byte);
        else
            buffer_append_byte (out, byte);
    }
}

static void
s_append_json (buffer_t *out, log_level_t level, uint64_t wall_ns, span_t line)
{
    if (line.size && line.data [0] == '{') {
        s_append_printable (out, line);
        return;
    }
    buffer_append (out, SPAN ("{\"time\":\""));
    s_append_time (out, wall_ns, false);
    buffer_print (out, "\",\"level\":\"%s\",\"text\":\"", s_names [level]);
    s_append_escaped (out, line);
    buffer_append (out, SPAN ("\"}"));
}

static void
s_append_line (log_sink_t *self, log_level_t level, uint64_t wall_ns, span_t line)
{
    line = span_slice (line, 0, LINE_MAX_BYTES);
    if (self->is_human) {
        s_append_time (&self->line, wall_ns, true);
        buffer_print (&self->line, " %-7s ", s_names [level]);
        s_append_printable (&self->line, line);
    } else
        s_append_json (&self->line, level, wall_ns, line);
    buffer_append_byte (&self->line, '\n');
}

//  ---- Writing it ----------------------------------------------------------------------------------------------------

//  A full disk may take a part of somebody's last line.  Whoever comes next begins a new one, so that only that part is
//  unreadable.
static void
s_leave_torn (log_sink_t *self)
{
    char last;
    struct stat file;
    if (self->tail_fd < 0 || fstat (self->tail_fd, &file) || file.st_size == 0)
        return;
    if (pread (self->tail_fd, &last, 1, file.st_size - 1) == 1 && last != '\n')
        buffer_append_byte (&self->line, '\n');
}

//  True when nothing of the line is left.
static bool
s_flush (log_sink_t *self)
{
    while (self->written < self->line.size) {
        ssize_t size = write (self->fd, self->line.data + self->written, self->line.size - self->written);
        if (size < 0 && errno == EINTR)
            continue;
        if (size <= 0)
            return false;
        self->written += (size_t)size;
    }
    buffer_clear (&self->line);
    self->written = 0;
    return true;
}

//  Whether a line that was taken in part is to be finished.  In a file others may have written behind it.
static bool
s_is_begun (const log_sink_t *self)
{
    return self->written && self->tail_fd < 0;
}

//  One more that was not taken.  What is begun stays.
static void
s_lose (log_sink_t *self)
{
    if (!s_is_begun (self)) {
        buffer_clear (&self->line);
        self->written = 0;
    }
    self->lost++;
    self->untold++;
}

static void
s_tell_lost (log_sink_t *self, uint64_t wall_ns)
{
    if (!self->untold)
        return;
    char text [64];
    snprintf (text, sizeof text, "%" PRIu64 " log lines before this one could not be written", self->untold);
    s_append_line (self, LOG_WARNING, wall_ns, span_from_string (text));
}

static void
s_write (log_sink_t *self, log_level_t level, uint64_t wall_ns, span_t line)
{
    if (!s_flush (self)) {
        s_lose (self);
        return;
    }
    s_leave_torn (self);
    s_tell_lost (self, wall_ns);
    s_append_line (self, level, wall_ns, line);
    uint64_t untold = self->untold;
    self->untold = 0;
    if (!s_flush (self) && !s_is_begun (self)) {
        self->untold = untold;
        s_lose (self);
    }
}

void
log_sink_write (log_sink_t *self, log_level_t level, uint64_t wall_ns, span_t line)
{
    pthread_mutex_lock (&self->mutex);
    if (level >= self->level)
        s_write (self, level, wall_ns, line);
    pthread_mutex_unlock (&self->mutex);
}

void
log_sink_set_level (log_sink_t *self, log_level_t level)
{
    pthread_mutex_lock (&self->mutex);
    self->level = level;
    pthread_mutex_unlock (&self->mutex);
}

uint64_t
log_sink_lost (log_sink_t *self)
{
    pthread_mutex_lock (&self->mutex);
    uint64_t lost = self->lost;
    pthread_mutex_unlock (&self->mutex);
    return lost;
}

bool
log_sink_is_json (const log_sink_t *self)
{
    return !self->is_human;
}

//  What would have to be escaped is left out.
void
log_sink_say_last (const char *sentence)
{
    struct timespec now;
    struct tm parts;
    char at [40], line [LAST_MAX_BYTES];
    clock_gettime (CLOCK_REALTIME, &now);
    gmtime_r (&now.tv_sec, &parts);
    strftime (at, sizeof at, "%Y-%m-%dT%H:%M:%S", &parts);
    size_t size = (size_t)snprintf (
        line, sizeof line, "{\"time\":\"%s.%03ldZ\",\"level\":\"error\",\"text\":\"", at, now.tv_nsec / 1000000);
    for (; *sentence && size < sizeof line - 4; sentence++)
        if (*sentence >= ' ' && *sentence < 0x7f && *sentence != '"' && *sentence != '\\')
            line [size++] = *sentence;
    memcpy (line + size, "\"}\n", 3);
    struct pollfd room = { .fd = STDERR_FILENO, .events = POLLOUT };
    while (poll (&room, 1, 0) == 1 && room.revents & POLLOUT && write (STDERR_FILENO, line, size + 3) < 0 &&
           errno == EINTR)
        continue;
}

//  ---- New and destroy -----------------------------------------------------------------------------------------------

//  What is said on standard error itself would lie over our lines in a file that was opened without O_APPEND.  Only files
//  have an offset to mend: what a terminal or a pipe is shared with keeps its flags.
static void
s_append_standard_error (void)
{
    struct stat what;
    if (fstat (STDERR_FILENO, &what) == 0 && S_ISREG (what.st_mode))
        fcntl (STDERR_FILENO, F_SETFL, fcntl (STDERR_FILENO, F_GETFL) | O_APPEND);
}

//  Standard error may be shared with a shell: making it non-blocking would make the shell's so.  Opening it anew gives a
//  description of our own, for pipes, terminals and files; a socket cannot be opened, and is used as it is.
static int
s_open_standard_error (void)
{
    s_append_standard_error ();
    int fd = open ("/proc/self/fd/2", O_WRONLY | O_APPEND | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
    return fd >= 0 ? fd : fcntl (STDERR_FILENO, F_DUPFD_CLOEXEC, 3);
}

//  -1 where lines go elsewhere than to a file, or where it cannot be read.
static int
s_open_tail (int fd)
{
    struct stat what;
    char path [32];
    if (fstat (fd, &what) || !S_ISREG (what.st_mode))
        return -1;
    snprintf (path, sizeof path, "/proc/self/fd/%d", fd);
    return open (path, O_RDONLY | O_CLOEXEC);
}

log_sink_t *
log_sink_new (const char *path, log_level_t level, log_form_t form, error_t *error)
{
    int fd =
        path ? open (path, O_WRONLY | O_CREAT | O_APPEND | O_NONBLOCK | O_CLOEXEC, 0644) : s_open_standard_error ();
    if (fd < 0 && path) {
        error_set (error, STATUS_IO, "cannot open the log %s: %s", path, strerror (errno));
        return NULL;
    }
    log_sink_t *self = memory_new (sizeof *self);
    self->fd = fd;
    self->tail_fd = s_open_tail (fd);
    self->level = level;
    self->is_human = form == LOG_FORM_HUMAN || (form == LOG_FORM_AUTO && isatty (fd));
    pthread_mutex_init (&self->mutex, NULL);
    return self;
}

void
log_sink_destroy (log_sink_t **self_p)
{
    log_sink_t *self = *self_p;
    if (!self)
        return;
    if (self->fd >= 0)
        close (self->fd);
    if (self->tail_fd >= 0)
        close (self->tail_fd);
    buffer_fini (&self->line);
    pthread_mutex_destroy (&self->mutex);
    memory_free (self);
    *self_p = NULL;
}
