//  templates - the chat templates of a model, by name
//
//  An array of bundle_template_t.  The first place that holds any gives them all, so that names of two places never mix;
//  transformers has it so, too.

#ifndef MODEL_BUNDLE_TEMPLATES_H
#define MODEL_BUNDLE_TEMPLATES_H

#include "model/bundle/bundle.h"

//  The name of a template that is used where none is asked for.
#define TEMPLATES_DEFAULT "default"

void templates_init (array_t *self);
void templates_fini (array_t *self);

//  Appends the templates of a model's files, as bundle_load takes them, none of them compiled.  STATUS_INVALID and what
//  gguf_init says, with the file and what is wrong.
status_t templates_read (array_t *self, const span_t files [BUNDLE_FILES], error_t *error);

//  The template of that name; NULL where there is none.  Borrowed until the next one is read.
bundle_template_t *templates_find (const array_t *self, span_t name);

//  Compiles a template and tries it (template_probe), where that was not done yet; NULL is fine.  STATUS_INVALID with the
//  template and what is wrong.
status_t templates_compile (bundle_template_t *template, const json_t *variables, error_t *error);

#endif
