//  load_steps - the small parts of a tokenizer.json
//
//  Normalizers, pre-tokenizers, decoders and post-processors, each a type name and what belongs to it, or a Sequence of
//  them. A null or absent one does nothing. STATUS_UNSUPPORTED for a type that is not known, by name.

#ifndef MODEL_TOKENIZER_LOAD_STEPS_H
#define MODEL_TOKENIZER_LOAD_STEPS_H

#include "base/json.h"
#include "model/tokenizer/body.h"
#include "model/tokenizer/decoder.h"

status_t load_normalizer (const json_t *json, normalizer_t *normalizer, error_t *error);

//  takes_bytes: the model may have bytes for the characters that ByteLevel writes. byte_level: set where it has.
status_t load_pre_tokenizer (
    const json_t *json, bool takes_bytes, splitter_t *splitter, bool *byte_level, error_t *error);

status_t load_decoder (const json_t *json, decoder_t *decoder, error_t *error);

//  Appends the ids (uint32_t) that a single text gets before and behind it.
status_t load_post_processor (const json_t *json, array_t *before, array_t *behind, error_t *error);

#endif
