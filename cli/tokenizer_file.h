//  tokenizer_file - the tokenizer of a file or folder

#ifndef CLI_TOKENIZER_FILE_H
#define CLI_TOKENIZER_FILE_H

#include "model/tokenizer/tokenizer.h"

//  Loads the tokenizer of a model: a tokenizer.json, a GGUF file, or a folder with a tokenizer.json. Gives it through
//  *tokenizer. STATUS_NOT_FOUND, STATUS_IO, and what the loaders say.
status_t tokenizer_file_load (const char *path, tokenizer_t **tokenizer, error_t *error);

#endif
