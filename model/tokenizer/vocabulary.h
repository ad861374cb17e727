//  vocabulary - tokens by their number and by their bytes
//
//  The bytes of all tokens lie in one row; a table by number says where, a table by hash finds the number of a text. A
//  token may be hidden: it has a number and bytes, but no text is ever found as it (added tokens, whose matching is
//  model/tokenizer/added.h's; unused places).

#ifndef MODEL_TOKENIZER_VOCABULARY_H
#define MODEL_TOKENIZER_VOCABULARY_H

#include "base/error.h"
#include "base/span.h"

//  No token: the answer where there is none.
#define TOKEN_NONE UINT32_MAX

enum {
    VOCABULARY_TOKENS_MAX = 1 << 22,    //  Numbers are below this
    TOKEN_SIZE_MAX = 1 << 16            //  Bytes of one token
};

typedef struct vocabulary vocabulary_t;

//  Gives an empty vocabulary; never NULL.
vocabulary_t *vocabulary_new (void);

void vocabulary_destroy (vocabulary_t **self_p);

//  Adds a token, or gives a number new bytes; copies them. A text that comes twice is found as the later one.
//  STATUS_LIMIT for a number or size that no vocabulary has.
status_t vocabulary_put (vocabulary_t *self, uint32_t id, span_t bytes, error_t *error);

//  The same for a token that is not to be found by its bytes.
status_t vocabulary_put_hidden (vocabulary_t *self, uint32_t id, span_t bytes, error_t *error);

//  The number of a text; TOKEN_NONE where it is no token.
uint32_t vocabulary_find (const vocabulary_t *self, span_t bytes);

//  The bytes of a token; empty for a number nobody has. Borrowed until the next put.
span_t vocabulary_bytes (const vocabulary_t *self, uint32_t id);

//  True where the number was put.
bool vocabulary_has (const vocabulary_t *self, uint32_t id);

//  How many texts can be found.
uint32_t vocabulary_count (const vocabulary_t *self);

//  Bytes that it holds.
uint64_t vocabulary_memory (const vocabulary_t *self);

//  One more than the highest number.
uint32_t vocabulary_size (const vocabulary_t *self);

//  Sets by first byte how many bytes the longest token has that begins with it; 0 where none does.
void vocabulary_longest (const vocabulary_t *self, size_t longest [256]);

#endif
