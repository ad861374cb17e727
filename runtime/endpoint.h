//  endpoint - what can be read off an endpoint as ZeroMQ writes it

#ifndef RUNTIME_ENDPOINT_H
#define RUNTIME_ENDPOINT_H

#include "base/span.h"

//  The host of a TCP endpoint, without brackets; empty for others.  Of "tcp://SOURCE;HOST:PORT" it is HOST.  Borrowed.
span_t endpoint_host (span_t endpoint);

//  The port of a TCP endpoint, a number or "*"; empty for others.  Borrowed.
span_t endpoint_port (span_t endpoint);

//  Writes HOST:PORT as servers and URLs have it: the address of IPv6 in brackets.  Cut where there is no room.
void host_write_server (span_t host, unsigned port, char *out, size_t size);

//  True for a loopback address and for "localhost".
bool host_is_local (span_t host);

//  True where others than processes of this machine can be on the other side: tcp, on anything but a loopback address.
bool endpoint_leaves_machine (span_t endpoint);

#endif
