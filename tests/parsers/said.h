//  said - what a parser made of a text, for tests
//
//  A sink that fails the test where calls nest or pieces come outside them, and texts parsed however they are cut.

#ifndef TESTS_PARSERS_SAID_H
#define TESTS_PARSERS_SAID_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "model/parser/parser.h"

typedef struct {
    buffer_t content;      //  All of it
    buffer_t reasoning;    //  All of it
    buffer_t calls;        //  name(id)arguments, a line each
    bool open;             //  A call is
    uint32_t count;        //  Calls that ended
} said_t;

//  Tells a said_t, which starts zeroed and is borrowed.
parser_sink_t said_sink (said_t *said);
void said_fini (said_t *said);

//  How a text is cut: whole, into bytes, or at random from any other number.
enum { SAID_WHOLE = 0, SAID_BYTES = 1 };

//  Parses a text to its end; fills *said, which the caller frees.  cut: as for parser_finish.
parser_counts_t said_parse (const parser_format_t *format, const parser_options_t *options, span_t text, uint64_t split,
    bool cut, said_t *said);

//  Parses it whole, in bytes and cut at random: fails the test where the results differ.
parser_counts_t said_parse_all_ways (
    const parser_format_t *format, const parser_options_t *options, span_t text, bool cut, said_t *said);

//  The bytes of a file; fails the test where there is none.  The caller frees them.
buffer_t said_read_file (const char *path);

//  A tree, which the caller destroys; fails the test with the text.
json_t *said_parse_json (span_t text);

//  Fails the test where two texts differ.  loosely: but for blanks at both ends.
void said_assert_text (const char *what, span_t got, span_t expected, bool loosely);

#endif
