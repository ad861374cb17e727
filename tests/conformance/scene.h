//  scene - what plays on one port, in the real world and in the simulated one
//
//  A scene plays on one port: it starts, things happen in callbacks, and the scene says when it is over.  The same scene
//  then plays in the other world, and what was heard must be the same.

#ifndef TESTS_CONFORMANCE_SCENE_H
#define TESTS_CONFORMANCE_SCENE_H

#include "runtime/port.h"

enum { SCENE_HEARD_MAX = 4096 };

typedef struct scene scene_t;
typedef void (scene_fn) (scene_t *scene);

struct scene {
    port_t *port;                     //  Where it plays
    void (*over) (scene_t *scene);    //  Stops the world
    bool is_over;                     //  The scene has said so
    char heard [SCENE_HEARD_MAX];     //  What happened, in order, a blank behind each
    int count;                        //  The scene's own
    uint64_t due_ns;                  //  The scene's own
    port_socket_t *server;            //  The scene's own
    port_socket_t *client;            //  The scene's own
    port_listener_t *listener;        //  The scene's own
    port_exchange_t *exchange;        //  The scene's own
    port_fetch_t *fetch;              //  The scene's own
    char endpoint [256];              //  The scene's own
};

#define MILLISECOND UINT64_C (1000000)
#define PORT(scene) ((scene)->port->table)

//  Writes down what happened.
void scene_hear (scene_t *scene, const char *word);
void scene_hear_span (scene_t *scene, span_t word);

//  Stops the world it plays in.
void scene_over (scene_t *scene);

//  Plays in one of the worlds.
void scene_play_real (scene_fn *play, scene_t *scene);
void scene_play_simulated (scene_fn *play, scene_t *scene);

//  Plays in both worlds; what was heard must be the same in both.
void scene_play (scene_fn *play, const char *expected);

#endif
