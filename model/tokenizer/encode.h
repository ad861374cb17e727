//  encode - pieces of text to tokens, and what they became before
//
//  The part of a tokenizer that most of its time goes into: for tokenizer.c, nobody else includes this. Ids may be staged: they
//  are there behind encode_flush.

#ifndef MODEL_TOKENIZER_ENCODE_H
#define MODEL_TOKENIZER_ENCODE_H

#include "model/tokenizer/tokenizer.h"

//  Appends what is staged.
void encode_flush (tokenizer_t *self, array_t *ids);

//  Stages one id.
void encode_token (tokenizer_t *self, uint32_t id, array_t *ids);

//  Encodes normalised text (well-formed UTF-8) without added tokens. is_first: nothing stands before it. STATUS_LIMIT where a piece
//  or the search for one takes too long.
status_t encode_text (tokenizer_t *self, span_t text, bool is_first, array_t *ids, error_t *error);

//  Appends the tokens that the model makes of a piece, which for byte-pair vocabularies may be any bytes. may_be_whole: it may be a
//  token. Nothing is staged, and nothing may be.
status_t encode_piece (tokenizer_t *self, span_t piece, bool may_be_whole, array_t *ids, error_t *error);

#endif
