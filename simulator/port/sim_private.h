//  sim_private - what the parts of the simulated port know of each other
//
//  The functions are those of port_table_t (runtime/port.h); each part has its own file.

#ifndef SIMULATOR_PORT_SIM_PRIVATE_H
#define SIMULATOR_PORT_SIM_PRIVATE_H

#include "base/list.h"
#include "simulator/network.h"
#include "simulator/port/sim_port.h"

typedef struct {
    port_t port;                 //  First: what actors see
    realm_t *realm;              //  Where it is
    realm_process_t *process;    //  In which process
    resident_t resident;         //  Of the process
    uint32_t number;             //  In the realm
    const keyring_t *keys;       //  Who it is and whom it lets in; NULL: every endpoint is plain
    bool crashed;                //  The process did not end by its own will: nothing has an effect any more
    bool dead;                   //  The process has ended
    bool in_turn;                //  Inside a callback
    bool turn_end_wanted;        //  on_turn_end is to be called
    random_t random;             //  What the actor draws
    random_t job_random;         //  How long jobs take
    random_t socket_random;      //  When to dial again, names of peers
    random_t publish_random;     //  What is lost on the way to subscribers
    random_t chunk_random;       //  Where streams of bytes are cut
    realm_event_t alarm;         //  The one alarm
    realm_event_t turn;          //  on_turn_end outside of a turn
    list_t jobs;                 //  Under way
    uint32_t open_count;         //  Sockets and the like that must be closed before the end
} sim_port_t;

//  The port of a simulated world behind what actors see.
sim_port_t *sim_port_of (port_t *port);

//  Around each callback: what the actor asked for at the end of the turn happens in sim_leave.
void sim_enter (sim_port_t *self);
void sim_leave (sim_port_t *self);

//  An event of this port's process.
realm_event_t sim_event (const sim_port_t *self, realm_event_fn *fire);
void sim_schedule_after (sim_port_t *self, realm_event_t *event, uint64_t delay_ns);

//  Writes the path on the machine's disk.  Gives it: memory_free.
char *sim_path (const sim_port_t *self, const char *path);

//  STATUS_UNREACHABLE once the process is dead.
status_t sim_check_alive (const sim_port_t *self, error_t *error);

//  ---- Sockets (sim_socket.c) ----------------------------------------------------------------------------------------
port_socket_t *sim_socket_open (port_t *self, const socket_options_t *options, error_t *error);
status_t sim_socket_bind (port_socket_t *socket, const char *endpoint, error_t *error);
status_t sim_socket_connect (port_socket_t *socket, const char *endpoint, error_t *error);
status_t sim_socket_mend (port_socket_t *socket, bool *mended, error_t *error);
const char *sim_socket_endpoint (const port_socket_t *socket);
status_t sim_socket_send (port_socket_t *socket, const span_t *frames, size_t count);
status_t sim_socket_forward (port_socket_t *socket, port_socket_t *from, const span_t *frames, size_t count);
status_t sim_socket_send_kept (port_socket_t *socket, const span_t *frames, size_t count, keeper_t *keeper);
keeper_t sim_socket_keep (port_socket_t *socket, const span_t *frame);
void sim_socket_subscribe (port_socket_t *socket, span_t prefix);
void sim_socket_unsubscribe (port_socket_t *socket, span_t prefix);
socket_sender_t sim_socket_sender (const port_socket_t *socket);
uint64_t sim_socket_refused (const port_socket_t *socket);
uint64_t sim_socket_overflows (const port_socket_t *socket);
void sim_socket_close (port_socket_t *socket);

//  ---- HTTP server (sim_server.c) ------------------------------------------------------------------------------------
port_listener_t *sim_listen (port_t *self, const char *address, const listener_options_t *options, error_t *error);
const char *sim_listener_address (const port_listener_t *listener);
void sim_listener_figures (const port_listener_t *listener, listener_figures_t *figures);
void sim_listener_stop (port_listener_t *listener);
void sim_listener_close (port_listener_t *listener);
void sim_exchange_watch (port_exchange_t *exchange, const exchange_watch_t *watch);
void sim_exchange_take_body (port_exchange_t *exchange, buffer_t *out);
void sim_exchange_return_body (port_exchange_t *exchange, buffer_t *body);
void sim_exchange_respond (
    port_exchange_t *exchange, int status, const http_header_t *headers, size_t count, span_t body);
void sim_exchange_begin (port_exchange_t *exchange, int status, const http_header_t *headers, size_t count);
status_t sim_exchange_write (port_exchange_t *exchange, span_t bytes);
void sim_exchange_expect (const port_exchange_t *exchange, unsigned step);
void sim_exchange_end (port_exchange_t *exchange);
void sim_exchange_abort (port_exchange_t *exchange);

//  ---- HTTP client (sim_fetch.c) -------------------------------------------------------------------------------------
port_fetch_t *sim_fetch (port_t *self, const fetch_options_t *options, error_t *error);
void sim_fetch_pause (port_fetch_t *fetch, bool paused);
void sim_fetch_cancel (port_fetch_t *fetch);

//  What travels between the two.  A request's frames: method, path, query, headers, body; a head's: status, headers.
enum { HTTP_REQUEST = 1, HTTP_HEAD, HTTP_DATA, HTTP_END, HTTP_TAKEN };

//  Appends "name: value\n" for each header.
void sim_headers_encode (buffer_t *out, const http_header_t *headers, size_t count);

//  ---- Processes (sim_process.c) -------------------------------------------------------------------------------------
port_process_t *sim_process_start (port_t *self, const process_options_t *options, error_t *error);
int64_t sim_process_id (const port_process_t *process);
void sim_process_signal (port_process_t *process, process_signal_t signal);
void sim_process_close (port_process_t *process);

//  ---- Stores, files and regions (sim_disk.c) ------------------------------------------------------------------------
port_store_t *sim_store_open (port_t *self, const store_options_t *options, error_t *error);
span_t sim_store_get (port_store_t *store, span_t key);
status_t sim_store_put (port_store_t *store, span_t key, span_t value, error_t *error);
status_t sim_store_delete (port_store_t *store, span_t key, error_t *error);
status_t sim_store_commit (port_store_t *store, bool sync, error_t *error);
bool sim_store_next (port_store_t *store, span_t from, bool after, span_t *key, span_t *value);
void sim_store_close (port_store_t *store);
status_t sim_file_read (port_t *self, const char *path, size_t size_max, buffer_t *out, error_t *error);
status_t sim_file_read_front (port_t *self, const char *path, size_t size, buffer_t *out, error_t *error);
status_t sim_file_write (port_t *self, const char *path, span_t bytes, bool secret, error_t *error);
port_file_t *sim_file_open (port_t *self, const char *path, error_t *error);
status_t sim_file_append (port_file_t *file, span_t bytes, error_t *error);
void sim_file_close (port_file_t *file);
port_region_t *sim_region_open (port_t *self, const char *name, size_t size, bool create, error_t *error);
void *sim_region_memory (const port_region_t *region, size_t *size);
void sim_region_close (port_region_t *region, bool remove);

#endif
