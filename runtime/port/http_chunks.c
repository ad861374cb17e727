#include "runtime/port/http_chunks.h"

enum { DIGITS_MAX = 15, LINE_MAX_BYTES = 1024, FRAMING_FREE = 65536, FRAMING_FACTOR = 8 };

enum { AT_SIZE, AT_EXTENSION, AT_SIZE_LF, AT_DATA, AT_DATA_CR, AT_DATA_LF, AT_LAST_CR, AT_LAST_LF };

static int
s_hex_digit (uint8_t byte)
{
    if (byte >= '0' && byte <= '9')
        return byte - '0';
    byte |= 0x20;
    return byte >= 'a' && byte <= 'f' ? byte - 'a' + 10 : -1;
}

//  Chunks of one byte take six bytes of framing: more than the factor allows is no client but an attack.
static bool
s_is_too_much (http_chunks_t *self)
{
    self->framing++;
    self->line++;
    return self->line > LINE_MAX_BYTES || self->framing > FRAMING_FREE + FRAMING_FACTOR * self->data;
}

static bool
s_take_size (http_chunks_t *self, uint8_t byte)
{
    int digit = s_hex_digit (byte);
    if (digit >= 0) {
        self->size = self->size * 16 + (uint64_t)digit;
        return ++self->digits <= DIGITS_MAX;
    }
    self->expect = byte == '\r' ? AT_SIZE_LF : AT_EXTENSION;
    return self->digits > 0 && (byte == '\r' || byte == ';');
}

static bool
s_take_extension (http_chunks_t *self, uint8_t byte)
{
    if (byte == '\r')
        self->expect = AT_SIZE_LF;
    return byte == '\r' || byte == '\t' || (byte >= ' ' && byte != 0x7f);
}

static bool
s_take_exactly (http_chunks_t *self, uint8_t byte, uint8_t wanted, int next)
{
    self->expect = next;
    return byte == wanted;
}

static bool
s_start_next (http_chunks_t *self, uint8_t byte)
{
    self->size = 0;
    self->digits = 0;
    self->line = 0;
    return s_take_exactly (self, byte, '\n', AT_SIZE);
}

static bool
s_take (http_chunks_t *self, uint8_t byte)
{
    switch (self->expect) {
    case AT_SIZE:
        return s_take_size (self, byte);
    case AT_EXTENSION:
        return s_take_extension (self, byte);
    case AT_SIZE_LF:
        self->left = self->size;
        return s_take_exactly (self, byte, '\n', self->size ? AT_DATA : AT_LAST_CR);
    case AT_DATA_CR:
        return s_take_exactly (self, byte, '\r', AT_DATA_LF);
    case AT_DATA_LF:
        return s_start_next (self, byte);
    case AT_LAST_CR:
        return s_take_exactly (self, byte, '\r', AT_LAST_LF);
    default:
        return s_take_exactly (self, byte, '\n', AT_LAST_LF);
    }
}

static chunks_state_t
s_take_data (http_chunks_t *self, span_t *input, span_t *data)
{
    *data = span_slice (*input, 0, self->left > SIZE_MAX ? SIZE_MAX : (size_t)self->left);
    *input = span_slice (*input, data->size, input->size);
    self->left -= data->size;
    self->data += data->size;
    if (!self->left)
        self->expect = AT_DATA_CR;
    return CHUNKS_DATA;
}

chunks_state_t
http_chunks_read (http_chunks_t *self, span_t *input, span_t *data)
{
    while (input->size) {
        if (self->expect == AT_DATA)
            return s_take_data (self, input, data);
        bool is_last = self->expect == AT_LAST_LF;
        if (s_is_too_much (self) || !s_take (self, input->data [0]))
            return CHUNKS_BROKEN;
        *input = span_slice (*input, 1, input->size);
        if (is_last)
            return CHUNKS_WHOLE;
    }
    return CHUNKS_MORE;
}
