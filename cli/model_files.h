//  model_files - the files that a model comes in, open

#ifndef CLI_MODEL_FILES_H
#define CLI_MODEL_FILES_H

#include "cli/mapping.h"
#include "model/bundle/bundle.h"

typedef struct {
    mapping_t mappings [BUNDLE_FILES];    //  What is open
    buffer_t templates;                   //  BUNDLE_TEMPLATES, which no one file holds
    span_t files [BUNDLE_FILES];          //  All, as a bundle takes them
} model_files_t;

//  Opens a Hugging Face folder, or one file: a GGUF file, one of such a folder or NAME.jinja by its name, or else what
//  `otherwise` says.  STATUS_NOT_FOUND, STATUS_IO with the path.  model_files_close in either case.
status_t model_files_open (model_files_t *self, const char *path, bundle_file_t otherwise, error_t *error);

//  Opens a chat template that stands in for all that the model has.
status_t model_files_open_template (model_files_t *self, const char *path, error_t *error);

void model_files_close (model_files_t *self);

#endif
