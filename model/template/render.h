//  render - the state of one rendering, shared by the files of this folder
//
//  evaluate.c walks expressions, execute.c statements; filters.c, tests.c, methods.c and globals.c hold the tables of what
//  Jinja and Python bring.  An error sits in the heap: every function returns at once when it is set, with an undefined
//  value that nobody looks at.

#ifndef MODEL_TEMPLATE_RENDER_H
#define MODEL_TEMPLATE_RENDER_H

#include "model/template/ast.h"

enum { RENDER_DEPTH_MAX = 1000 };    //  As Python's own; about 1 KiB of stack each

typedef struct {
    span_t name;      //  Of the variable
    value_t value;    //  Its value
} variable_t;

typedef struct scope scope_t;
struct scope {
    scope_t *parent;          //  Where names are looked up next
    variable_t *variables;    //  In the heap
    size_t count;             //  Variables
    size_t capacity;          //  Room
    bool kept;                //  A macro may look into it later
};

typedef enum { FLOW_ON, FLOW_BREAK, FLOW_CONTINUE } flow_t;

typedef struct {
    value_heap_t heap;     //  Memory, error, steps
    buffer_t *out;         //  What is printed goes here
    buffer_t *prompt;      //  What is printed outside of captures goes here
    size_t prompt_at;      //  Its size at first
    array_t *seams;        //  size_t; NULL: not wanted
    size_t seams_from;     //  Its elements at first
    uint32_t loops;        //  Around the statement being executed, macros and captures included
    size_t out_max;        //  Bytes
    scope_t *scope;        //  Innermost
    scope_t *scopes;       //  Used and left, by parent: the next ones
    value_loop_t *left;    //  Loops that have ended, by next: the next ones
    bool escapes;          //  Inside {% autoescape true %}
    flow_t flow;           //  A break or continue on its way out
    uint32_t depth;        //  Of the recursion
    uint32_t line;         //  Of the statement being executed
    int64_t now_s;         //  For strftime_now: seconds since 1970 in local time
} render_t;

//  What a call was given.
typedef struct {
    value_t *items;          //  Positional
    size_t count;            //  How many
    span_t *names;           //  Of the keyword ones
    value_t *values;         //  Of the keyword ones
    size_t keyword_count;    //  How many
} args_t;

typedef value_t (builtin_fn) (render_t *render, value_t self, const args_t *args);

//  A named function of a table; a table ends with a NULL name.
typedef struct {
    const char *name;          //  In templates
    const char *parameters;    //  What it takes: see args_check
    builtin_fn *call;          //  What it does
} builtin_t;

struct value_function {
    const builtin_t *builtin;    //  A global or a bound method
    value_t self;                //  Of a bound method
    const node_t *macro;         //  A macro, or a call block
    scope_t *scope;              //  Where the macro was defined
    value_t caller;              //  What a call block hands to the macro it calls
};

struct value_loop {
    value_t *items;               //  All; NULL where a range or a text is walked
    const value_list_t *range;    //  The range; else NULL
    span_t text;                  //  The text; else empty
    size_t at;                    //  Bytes of it before the present character
    size_t count;                 //  How many
    size_t index;                 //  Present one, from 0
    uint32_t depth;               //  Recursive loops, from 0
    const node_t *node;           //  The for
    value_t changed;              //  Last arguments of loop.changed; undefined at first
    value_loop_t *next;           //  In render_t.left
    bool kept;                    //  Somebody may have the loop when it has ended
};

//  The item before, at (0) or behind the present one, where there is one.
value_t render_loop_item (const value_loop_t *loop, int offset);

//  ---- Evaluating and executing --------------------------------------------------------------------------------------

value_t evaluate (render_t *self, const node_t *node);
void execute (render_t *self, const nodes_t *body);

//  Calls a builtin whose arguments fit its parameters.
value_t render_builtin (render_t *self, const builtin_t *builtin, value_t object, const args_t *args);

//  The same for a method of a safe text: what goes into it is escaped, what comes out of it is safe, as with markupsafe.
value_t render_safe_method (render_t *render, const builtin_t *method, value_t self, const args_t *args);

//  Calls a function value.
value_t render_call (render_t *self, value_t function, const args_t *args);

//  Applies a filter or test by name; for map, select and their kin too.
value_t render_filter (render_t *self, span_t name, value_t input, const args_t *args);
bool render_test (render_t *self, span_t name, value_t input, const args_t *args);

//  obj.name, and obj [key]: Python's getattr and getitem as Jinja combines them.
value_t render_attribute (render_t *self, value_t object, span_t name);
value_t render_item (render_t *self, value_t object, value_t key);
value_t render_slice (render_t *self, value_t object, const node_t *slice);

//  The method of this kind of object; NULL where it has none of the name.
const builtin_t *render_find_method (value_t object, span_t name);

//  A builtin as a value; bound: its object, None for a global.
value_t render_function (render_t *self, const builtin_t *builtin, value_t bound);

//  A dotted path or a number, as attribute= takes it. otherwise: what stands for each member that is not there; NULL or None: it
//  is undefined.
value_t render_path (render_t *self, value_t object, value_t path, const value_t *otherwise);

//  a op b
value_t render_binary (render_t *self, op_t op, value_t a, value_t b);
bool render_compare (render_t *self, op_t op, value_t a, value_t b);
bool render_contains (render_t *self, value_t container, value_t item);

void render_set (render_t *self, span_t name, value_t value);

//  A new innermost scope.
void render_push (render_t *self, scope_t *parent);

//  Puts the old scope back; the one that was pushed is used again, unless a macro was defined in it.
void render_pop (render_t *self, scope_t *outer);

//  The same for the next turn of a loop: in its last scope, emptied, since loops over loops would fill the memory with scopes.
//  A macro that was defined in an earlier turn sees the variables of the last one, as Python's closures do.
void render_push_turn (render_t *self, scope_t *parent, scope_t **last);

//  Enters a recursion; false with the error set where it is too deep.
bool render_enter (render_t *self);
void render_leave (render_t *self);

//  The value is undefined and may not be used so: sets the error.
value_t render_undefined_error (render_t *self, value_t value);

//  ---- Arguments -----------------------------------------------------------------------------------------------------

//  Whether the arguments fit the parameters of what is called `name`; else sets the error.  Parameters are words: a name is
//  one, with ? it may be absent, with # it is a whole number, with : that or None; those behind / are named by position
//  alone; * takes any number of positions, ** any names.
bool args_check (render_t *render, const char *name, const char *parameters, const args_t *args);

//  The argument by position or name; NULL where it was not given.
const value_t *args_get (const args_t *self, size_t position, const char *name);
value_t args_or (const args_t *self, size_t position, const char *name, value_t otherwise);

//  A whole number as it is; and one that counts or points, where all beyond 2^62 is the same.
int64_t args_whole (const args_t *self, size_t position, const char *name, int64_t otherwise);
int64_t args_int (const args_t *self, size_t position, const char *name, int64_t otherwise);

span_t args_text (const args_t *self, size_t position, const char *name, span_t otherwise);

//  The texts among the keys of a dict as keywords.
args_t render_named (render_t *self, const value_dict_t *dict);

//  ---- Tables --------------------------------------------------------------------------------------------------------

extern const builtin_t globals_table [];

//  What dict (values, **names) puts into a dict.
void globals_fill_dict (render_t *render, value_t dict, const args_t *args);

extern const builtin_t methods_of_text [];
extern const builtin_t methods_of_int [];
extern const builtin_t methods_of_big [];
extern const builtin_t methods_of_float [];
extern const builtin_t methods_of_list [];
extern const builtin_t methods_of_tuple [];
extern const builtin_t methods_of_range [];
extern const builtin_t methods_of_view [];
extern const builtin_t methods_of_dict [];
extern const builtin_t methods_of_loop [];

//  Attributes that are values: called with no arguments.
extern const builtin_t properties_of_int [];
extern const builtin_t properties_of_float [];
extern const builtin_t properties_of_range [];

typedef bool (test_fn) (render_t *render, value_t value, const args_t *args);
typedef struct {
    const char *name;          //  In templates
    const char *parameters;    //  Besides the value
    test_fn *test;             //  What it asks
} test_t;

//  NULL where there is none.
const test_t *tests_find (span_t name);

const builtin_t *builtin_find (const builtin_t *table, span_t name);

//  json.dumps of a value, as transformers' tojson does.
typedef struct {
    bool lines;               //  Every item on a line of its own
    span_t indent;            //  Before it, for each level
    span_t item_separator;    //  ", " or "," with an indent
    span_t key_separator;     //  ": "
    bool sort_keys;           //  By code point
    bool ensure_ascii;        //  Escape everything else
} json_style_t;
void render_json (render_t *self, value_t value, const json_style_t *style, buffer_t *out);

//  str.format, and the % of texts: args as they were given.
value_t format_fields (render_t *render, value_t self, const args_t *args);
value_t format_percent (render_t *render, span_t text, const args_t *args);

//  strftime of the rendering's moment.
value_t render_strftime (render_t *self, span_t format);

#endif
