//  config - a configuration file as a tree whose nodes know their place
//
//  The file is YAML, less what surprises: no anchors, aliases or tags, one document, no key twice, bounded depth and
//  size.  ${NAME} and ${NAME:-default} in plain and double-quoted values are replaced by environment variables (what they
//  hold is text, never read as YAML again); $${ writes ${, and single quotes keep everything as it is.  Nothing here
//  reads a file or the environment: the caller brings both.

#ifndef RUNTIME_CONFIG_H
#define RUNTIME_CONFIG_H

#include "base/span.h"
#include "runtime/complaints.h"

enum {
    CONFIG_SIZE_MAX = 1 << 20,    //  Bytes of a file
    CONFIG_DEPTH_MAX = 16,        //  Sections inside sections
    CONFIG_KEY_MAX = 64,          //  Bytes of a key
};

typedef enum {
    CONFIG_SCALAR,    //  A value
    CONFIG_LIST,      //  Elements in order
    CONFIG_SECTION    //  Keys and what they lead to, in order
} config_kind_t;

typedef struct config_node config_node_t;
struct config_node {
    config_kind_t kind;      //  What it is
    bool quoted;             //  Scalar: was written in quotes, so it is text whatever it looks like
    place_t place;           //  Where the value begins
    const char *text;        //  Scalar: its text, NUL-terminated, without a NUL inside
    const char *key;         //  In a section: the key that leads here; NULL elsewhere
    place_t key_place;       //  Where the key stands
    config_node_t *first;    //  First child; NULL where there is none
    config_node_t *next;     //  Next sibling
    size_t count;            //  Children
};

typedef struct config config_t;

//  What a configuration may ask of the world.  Any function may be NULL: then there is no such thing.
typedef struct {
    //  Value of an environment variable; NULL where it is not set.  Borrowed until the next call.
    const char *(*variable) (void *arg, const char *name);
    //  Content of a file that a value names by `file:PATH`.
    status_t (*read_file) (void *arg, const char *path, buffer_t *out, error_t *error);
    void *arg;    //  For both
} config_world_t;

//  Reads a whole file.  Gives the tree, also where something in it was complained about; NULL where it cannot be read as
//  YAML at all.  text: borrowed for the call.
config_t *config_parse (span_t text, const config_world_t *world, complaints_t *complaints);

void config_destroy (config_t **self_p);

//  The root: a section, empty for an empty file.  Borrowed.
const config_node_t *config_root (const config_t *self);

//  Child by key; NULL where there is none, or where the node (which may be NULL) is no section.
const config_node_t *config_child (const config_node_t *node, const char *key);

//  Element by position; NULL where there is none, or where the node (which may be NULL) is no list.
const config_node_t *config_element (const config_node_t *node, size_t position);

//  True for a value that says nothing: `key:`, `key: ~`, `key: null`.
bool config_is_null (const config_node_t *node);

//  "a value", "a list", "a section", for sentences.
const char *config_kind_name (config_kind_t kind);

#endif
