//  rows - JSON in, JSON out, a line each
//
//  For verbs that answer each row of a file by one row.  The answer begins with the row's id, where it has one.

#ifndef CLI_ROWS_H
#define CLI_ROWS_H

#include "base/json.h"
#include "base/json_writer.h"

enum { ROWS_SIZE_MAX = 1 << 30 };

//  Writes the members of an answer.
typedef status_t (rows_fn) (void *self, const json_t *row, json_writer_t *json, error_t *error);

//  Reads a file of rows ("-": standard input), answers them in order and prints what comes of it.  Ends at the first row
//  that fails, with its number in the sentence; what was answered before it is printed.
status_t rows_answer (const char *path, rows_fn *answer, void *self, error_t *error);

#endif
