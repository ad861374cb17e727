#include "runtime/endpoint.h"

#include <stdio.h>

static bool
s_is_tcp (span_t endpoint)
{
    return span_starts_with (endpoint, SPAN ("tcp://"));
}

//  Position of the last such byte; size where there is none.
static size_t
s_find_last (span_t text, uint8_t byte)
{
    for (size_t i = text.size; i-- > 0;)
        if (text.data [i] == byte)
            return i;
    return text.size;
}

span_t
endpoint_host (span_t endpoint)
{
    if (!s_is_tcp (endpoint))
        return SPAN ("");
    span_t rest = span_slice (endpoint, 6, endpoint.size);
    size_t source = s_find_last (rest, ';');
    if (source < rest.size)
        rest = span_slice (rest, source + 1, rest.size);
    span_t host = span_slice (rest, 0, s_find_last (rest, ':'));
    if (host.size >= 2 && host.data [0] == '[' && host.data [host.size - 1] == ']')
        host = span_slice (host, 1, host.size - 2);
    return host;
}

span_t
endpoint_port (span_t endpoint)
{
    size_t colon = s_find_last (endpoint, ':');
    return s_is_tcp (endpoint) && colon > 3 ? span_slice (endpoint, colon + 1, endpoint.size) : SPAN ("");
}

void
host_write_server (span_t host, unsigned port, char *out, size_t size)
{
    bool is_v6 = s_find_last (host, ':') < host.size;
    snprintf (out, size, is_v6 ? "[%.*s]:%u" : "%.*s:%u", SPAN_ARG (host), port);
}

//  127.0.0.0/8, but not a name that begins like it.
static bool
s_is_loopback_v4 (span_t host)
{
    if (!span_starts_with (host, SPAN ("127.")))
        return false;
    for (size_t i = 0; i < host.size; i++)
        if (host.data [i] != '.' && (host.data [i] < '0' || host.data [i] > '9'))
            return false;
    return true;
}

bool
host_is_local (span_t host)
{
    return s_is_loopback_v4 (host) || span_equal (host, SPAN ("::1")) || span_equal (host, SPAN ("localhost")) ||
           span_equal (host, SPAN ("lo"));
}

//  What has no port is no endpoint, and leads nowhere.
bool
endpoint_leaves_machine (span_t endpoint)
{
    if (!s_is_tcp (endpoint) || s_find_last (endpoint, ':') == 3)
        return false;
    return !host_is_local (endpoint_host (endpoint));
}
