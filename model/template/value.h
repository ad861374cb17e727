//  value - what a template computes with: Python's values, as far as chat templates use them
//
//  Values are small structs passed by copy; what they point to lies in the heap of one rendering and goes with it.  The
//  heap is bounded: an operation that needs more than there is sets the heap's error, and everything unwinds.  Strings are
//  UTF-8 spans; lists and dicts are shared when copied, as in Python.  Dicts keep the order of insertion.
//
//  Python semantics that decide about bytes stand here: truth, equality, order, str() and repr(), and the shortest text of
//  a float.  Whole numbers have 64 bits; an operation that would leave them is an error.  Larger ones of JSON keep their
//  digits: they are printed, compared and counted as keys.

#ifndef MODEL_TEMPLATE_VALUE_H
#define MODEL_TEMPLATE_VALUE_H

#include "base/arena.h"
#include "base/array.h"
#include "base/buffer.h"
#include "base/error.h"
#include "base/json.h"

typedef enum {
    VALUE_UNDEFINED,    //  A name or attribute that is not there
    VALUE_NONE,         //  None
    VALUE_BOOL,         //  True, False
    VALUE_INT,          //  64 bits
    VALUE_BIG,          //  A whole number beyond those: JSON brings it, and nothing is computed with it
    VALUE_FLOAT,        //  A double
    VALUE_STRING,       //  UTF-8
    VALUE_LIST,         //  Grows; shared
    VALUE_TUPLE,        //  A list that does not grow
    VALUE_RANGE,        //  Whole numbers in steps: a tuple that prints and compares as Python's range
    VALUE_VIEW,         //  What keys, values and items of a dict give: walked, counted, not indexed
    VALUE_DICT,         //  In order of insertion; shared
    VALUE_NAMESPACE,    //  A dict whose attributes can be set
    VALUE_ITERATOR,     //  What map, select and their kin give: walked once, from where the last walk ended
    VALUE_FUNCTION,     //  A macro, a global function or a bound method
    VALUE_LOOP,         //  `loop` inside a for
} value_kind_t;

typedef struct value value_t;
typedef struct value_list value_list_t;
typedef struct value_dict value_dict_t;
typedef struct value_function value_function_t;
typedef struct value_loop value_loop_t;

struct value {
    value_kind_t kind;    //  Which member counts
    bool safe;            //  STRING: markupsafe's Markup, which escapes what is added to it
    union {
        bool truth;                    //  BOOL
        int64_t integer;               //  INT
        double real;                   //  FLOAT
        span_t text;                   //  STRING; BIG: its digits; UNDEFINED: the sentence for using it
        value_list_t *list;            //  LIST, TUPLE, RANGE, VIEW, ITERATOR
        value_dict_t *dict;            //  DICT, NAMESPACE
        value_function_t *function;    //  FUNCTION
        value_loop_t *loop;            //  LOOP
    } as;
};

struct value_list {
    value_t *items;     //  In the heap
    size_t count;       //  Items
    size_t capacity;    //  Room
    size_t taken;       //  ITERATOR: items that were walked already
    bool shared;        //  Others point to the items, too: they are copied before they change in place
};

//  The list of a RANGE or a VIEW.
typedef struct {
    value_list_t list;    //  Its items; those of a RANGE are made when value_items asks for them
    const char *name;     //  VIEW: "dict_keys", ...
    int64_t from;         //  RANGE: first
    int64_t to;           //  RANGE: where it ends
    int64_t step;         //  RANGE: between two
} value_view_t;

typedef struct {
    value_t key;      //  Hashable
    value_t value;    //  Anything
} value_pair_t;

struct value_dict {
    value_pair_t *pairs;    //  In order; in the heap
    size_t count;           //  Pairs
    size_t capacity;        //  Room
};

enum { MISSING_KEPT = 32, VALUE_DIGITS_MAX = 320 };    //  No double has more digits before its point

//  A sentence about something that is not there: loops make the same ones again and again.
typedef struct {
    const char *object;    //  What has no such attribute; NULL: the name of a variable
    span_t name;           //  Asked for
    value_t value;         //  Undefined, with the sentence
} missing_t;

//  The memory of one rendering, and its first error.
typedef struct {
    arena_t arena;                       //  Everything
    error_t error;                       //  STATUS_OK until something failed
    uint64_t steps;                      //  Left of the step budget
    uint32_t depth;                      //  Containers inside each other that are being walked
    missing_t missing [MISSING_KEPT];    //  By name
} value_heap_t;

//  limit: bytes.  steps: evaluations and iterations allowed.
void value_heap_init (value_heap_t *self, size_t limit, uint64_t steps);
void value_heap_fini (value_heap_t *self);

bool value_heap_failed (const value_heap_t *self);

//  Sets the error where there is none yet; returns undefined, so that a function can end with it.
value_t value_fail (value_heap_t *self, const char *format, ...) __attribute__ ((format (printf, 2, 3)));

//  The same for what only a whole number beyond 64 bits would be.
value_t value_too_large (value_heap_t *self);

//  Memory, for steps by its size; NULL with the error set where the heap is full or the steps are spent.  Zeroed.
void *value_alloc (value_heap_t *self, size_t size);

//  Takes steps from the budget; false with the error set where it is used up.  A step is worth some ten nanoseconds, a hundred
//  at most: what takes longer takes more steps, by the bytes and items it looks at.
bool value_step (value_heap_t *self, uint64_t steps);

//  Around the walk over a container's items: false with the error set where it is nested too deep, or in itself.  Leave in
//  either case.
bool value_enter (value_heap_t *self);
void value_leave (value_heap_t *self);

//  Takes the steps of walking over a text once.
bool value_scan (value_heap_t *self, span_t text);

//  Takes the steps of looking for a part at every place of a text.
bool value_search (value_heap_t *self, span_t text, span_t part);

//  Takes the steps of moving items or pairs inside a list or a dict.
bool value_move (value_heap_t *self, size_t count);

//  Appends a text, for its steps; nothing where they are spent, or where the heap could not hold what was appended before.
void value_write (value_heap_t *self, span_t text, buffer_t *out);

//  ---- Making --------------------------------------------------------------------------------------------------------

value_t value_undefined (value_heap_t *self, const char *format, ...) __attribute__ ((format (printf, 2, 3)));

//  Undefined since the object (value_object_name) has no attribute of the name; NULL: since no variable is called so.  Borrows
//  the name as long as the heap lives.
value_t value_missing (value_heap_t *self, const char *object, span_t name);

value_t value_none (void);
value_t value_bool (bool truth);
value_t value_int (int64_t integer);
value_t value_float (double real);

//  A whole number by its digits: a sign, or none, and no zero before them.  Within 64 bits it is an INT.  Copies.
value_t value_whole (value_heap_t *self, span_t digits);

//  The whole part of a finite number.
value_t value_whole_part (value_heap_t *self, double real);

//  Borrows the text, which must live as long as the heap.
value_t value_text (span_t text);

//  Copies.
value_t value_copy_text (value_heap_t *self, span_t text);

//  What a buffer holds, copied; the buffer is freed.
value_t value_take_buffer (value_heap_t *self, buffer_t *buffer);

//  kind: VALUE_LIST, VALUE_TUPLE or VALUE_ITERATOR.
value_t value_new_list (value_heap_t *self, value_kind_t kind);
void value_list_add (value_heap_t *self, value_list_t *list, value_t item);

//  The items from .. to - 1 of a list or tuple as another one, which shares them.
value_t value_slice_list (value_heap_t *self, value_t list, size_t from, size_t to);

//  Gives a list items of its own, so that they may change in place.  False with the error set where there is no memory.
bool value_list_own (value_heap_t *self, value_list_t *list);

//  range (from, to, step).
value_t value_new_range (value_heap_t *self, int64_t from, int64_t to, int64_t step);

//  The item of a RANGE at a position below its count.
value_t value_range_item (const value_list_t *range, size_t position);

//  An empty view to fill.  name: "dict_keys", "dict_values" or "dict_items"; borrowed for ever.
value_t value_new_view (value_heap_t *self, const char *name);

//  kind: VALUE_DICT or VALUE_NAMESPACE.
value_t value_new_dict (value_heap_t *self, value_kind_t kind);

//  Sets or replaces.  False with the error set for a key that cannot be hashed.
bool value_dict_set (value_heap_t *self, value_dict_t *dict, value_t key, value_t value);
void value_dict_set_text (value_heap_t *self, value_dict_t *dict, const char *key, value_t value);

//  NULL where there is none.  Borrowed until the dict changes.  Takes steps by the number of keys.
value_t *value_dict_get (value_heap_t *self, const value_dict_t *dict, value_t key);
value_t *value_dict_get_text (value_heap_t *self, const value_dict_t *dict, span_t key);

//  A JSON tree as values; whole numbers and fractions stay apart.
value_t value_from_json (value_heap_t *self, const json_t *json);

//  ---- Asking --------------------------------------------------------------------------------------------------------

bool value_is_number (value_t value);      //  INT, FLOAT or BOOL: what may be computed with
bool value_is_numeric (value_t value);     //  The same and BIG
bool value_is_sequence (value_t value);    //  LIST, TUPLE
bool value_is_indexed (value_t value);     //  LIST, TUPLE, RANGE
bool value_has_items (value_t value);      //  What has as.list

bool value_is_set (value_t value);    //  Keys or items of a dict: equal in any order

bool value_is_true (value_t value);

//  May be a key; false, too, where the steps are spent.
bool value_is_hashable (value_heap_t *self, value_t key);

//  ==, which takes steps by what is compared; false with the error set where they are spent.
bool value_equal (value_heap_t *self, value_t a, value_t b);

//  The same of two texts.
bool value_same_text (value_heap_t *self, span_t a, span_t b);

//  < as -1, 0, 1; false with the error set for kinds that have no order.
bool value_compare (value_heap_t *self, value_t a, value_t b, int *order);

//  "str", "int", "NoneType", ...
const char *value_type_name (value_t value);

//  "str object", "dict object", "None": as Jinja's messages name what has no such attribute.
const char *value_object_name (value_t value);

//  Of numbers, exact: 2^53 + 1 and 2^53 as a double differ. < as -1, 0, 1; what is no number (NaN) is like any, and equal to none.
int value_order_numbers (value_t a, value_t b);
bool value_equal_numbers (value_t a, value_t b);

//  A number as a double, which may round it.
double value_real (value_t value);

//  Code points of a text.
size_t value_text_length (span_t text);

//  The code points from .. to - 1 of a text.
span_t value_text_range (span_t text, size_t from, size_t to);

//  The items of whatever can be walked: lists and their kin, dict keys, characters of a text, nothing for undefined.  An
//  iterator is empty afterwards.  False with the error set for what cannot be walked.
bool value_items (value_heap_t *self, value_t value, value_t **items, size_t *count);

//  ---- Text ----------------------------------------------------------------------------------------------------------

//  str(): appends.
void value_print (value_heap_t *self, value_t value, buffer_t *out);

//  repr(): appends.
void value_print_repr (value_heap_t *self, value_t value, buffer_t *out);

//  The shortest text that reads back as the same double, as Python prints it.
void value_print_float (double real, buffer_t *out);

//  A number without sign as Python reads one: 1, 1.5, 2., .5, 007.5e3.  At most 126 bytes; false for anything else.
bool value_read_real (span_t text, double *real);

//  str() as a value.
value_t value_to_text (value_heap_t *self, value_t value);

#endif
