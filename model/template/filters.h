//  filters - what the files of filters share

#ifndef MODEL_TEMPLATE_FILTERS_H
#define MODEL_TEMPLATE_FILTERS_H

#include "model/template/render.h"

extern const builtin_t filters_of_rows [];
extern const builtin_t filters_rare [];

//  Filters with files of their own: filters_layout.c and filters_links.c.
builtin_fn filters_pprint, filters_wordwrap, filters_urlize;

//  Methods of a text: maketrans and translate.
builtin_fn translate_make, translate_text;

//  NULL where there is none.
const builtin_t *filters_lookup (span_t name);

//  The first place of a part in a text; data NULL where there is none.
span_t filters_find (span_t text, span_t part);

//  Strips a text of a set of characters, of whitespace where it is NULL; false with the error set where that takes too long.
bool filters_strip (render_t *render, span_t *text, const span_t *set, bool left, bool right);

//  Adds (key, value) to a row.
void filters_add_pair (render_t *render, value_t list, value_t key, value_t value);

//  Every `from` becomes `to`, at most `count` of them (-1: all).
value_t filters_replace (render_t *render, span_t text, span_t from, span_t to, int64_t count);

#endif
