#include "schemas/pack_reader.h"

#include <string.h>

//  Formats c0 to df (MessagePack specification, "Formats"): the kind, and the bytes of the big-endian number behind the
//  format byte, which is a value, a length or a count.
typedef struct {
    uint8_t kind;     //  A pack_kind_t
    uint8_t width;    //  Bytes of the number
    uint8_t extra;    //  Ext: bytes besides the number's; the type byte, and the data of the fixed sizes
} format_t;

enum { FIXSTR_FIRST = 0xa0, FIXSTR_MAX = 31 };
enum { FORMAT_FIRST = 0xc0, FORMAT_NIL = FORMAT_FIRST, FORMAT_UNUSED = 0xc1, FORMAT_LAST = 0xdf };

static const format_t s_formats [] = {
    { PACK_NIL, 0, 0 }, { PACK_NIL, 0, 0 }, { PACK_BOOL, 0, 0 }, { PACK_BOOL, 0, 0 },            //  nil, -, false, true
    { PACK_BIN, 1, 0 }, { PACK_BIN, 2, 0 }, { PACK_BIN, 4, 0 }, { PACK_EXT, 1, 1 },              //  bin 8 to 32, ext 8
    { PACK_EXT, 2, 1 }, { PACK_EXT, 4, 1 }, { PACK_FLOAT, 4, 0 }, { PACK_FLOAT, 8, 0 },          //  ext 16, 32, float
    { PACK_UINT, 1, 0 }, { PACK_UINT, 2, 0 }, { PACK_UINT, 4, 0 }, { PACK_UINT, 8, 0 },          //  uint 8 to 64
    { PACK_INT, 1, 0 }, { PACK_INT, 2, 0 }, { PACK_INT, 4, 0 }, { PACK_INT, 8, 0 },              //  int 8 to 64
    { PACK_EXT, 0, 2 }, { PACK_EXT, 0, 3 }, { PACK_EXT, 0, 5 }, { PACK_EXT, 0, 9 },              //  fixext 1 to 8
    { PACK_EXT, 0, 17 }, { PACK_STRING, 1, 0 }, { PACK_STRING, 2, 0 }, { PACK_STRING, 4, 0 },    //  fixext 16, str
    { PACK_ARRAY, 2, 0 }, { PACK_ARRAY, 4, 0 }, { PACK_MAP, 2, 0 }, { PACK_MAP, 4, 0 },          //  array, map
};

void
pack_reader_init (pack_reader_t *self, span_t bytes)
{
    *self = (pack_reader_t){ .left = bytes };
}

static bool
s_fail (pack_reader_t *self, const char *problem)
{
    self->problem = problem;
    return false;
}

static bool
s_take (pack_reader_t *self, uint64_t size, span_t *bytes)
{
    if (size > self->left.size)
        return s_fail (self, "ends too early");
    *bytes = span_of (self->left.data, (size_t)size);
    self->left = span_of (self->left.data + size, self->left.size - (size_t)size);
    return true;
}

static bool
s_take_number (pack_reader_t *self, size_t width, uint64_t *number)
{
    span_t bytes;
    *number = 0;
    if (!s_take (self, width, &bytes))
        return false;
    for (size_t i = 0; i < width; i++)
        *number = *number << 8 | bytes.data [i];
    return true;
}

static void
s_set_signed (pack_item_t *item, size_t width)
{
    uint64_t sign = (uint64_t)1 << (8 * width - 1);
    if (item->number & sign)
        item->number = (item->number ^ sign) - sign;
    else
        item->kind = PACK_UINT;
}

static void
s_set_real (pack_item_t *item, size_t width)
{
    if (width == 8) {
        memcpy (&item->real, &item->number, sizeof item->real);
        return;
    }
    uint32_t bits = (uint32_t)item->number;
    float real;
    memcpy (&real, &bits, sizeof real);
    item->real = (double)real;
}

static bool
s_set_count (pack_reader_t *self, pack_item_t *item, uint64_t elements_a_count)
{
    //  An element takes at least a byte.  Counts have 32 bits, so the product cannot overflow.
    if (item->number * elements_a_count > self->left.size)
        return s_fail (self, "ends too early");
    return true;
}

//  The format byte and the number are read; what else the kind needs.
static bool
s_finish (pack_reader_t *self, pack_item_t *item, size_t width, size_t extra)
{
    switch (item->kind) {
    case PACK_INT:
        s_set_signed (item, width);
        return true;
    case PACK_FLOAT:
        s_set_real (item, width);
        return true;
    case PACK_STRING:
    case PACK_BIN:
    case PACK_EXT:
        return s_take (self, item->number + extra, &item->bytes);
    case PACK_ARRAY:
        return s_set_count (self, item, 1);
    case PACK_MAP:
        return s_set_count (self, item, 2);
    default:
        return true;
    }
}

static bool
s_read_fixed (pack_reader_t *self, uint8_t first, pack_item_t *item)
{
    item->kind = first < 0x80 || first >= 0xe0 ? PACK_UINT
                 : first < 0x90                ? PACK_MAP
                 : first < 0xa0                ? PACK_ARRAY
                                               : PACK_STRING;
    item->number = first < 0x80 ? first : first < 0xa0 ? first & 0x0f : first & 0x1f;
    if (first >= 0xe0) {
        item->kind = PACK_INT;
        item->number = first;
    }
    return s_finish (self, item, 1, 0);
}

bool
pack_read (pack_reader_t *self, pack_item_t *item)
{
    *item = (pack_item_t){ .kind = PACK_NIL };
    span_t head;
    if (!s_take (self, 1, &head))
        return false;
    uint8_t first = head.data [0];
    if (first < FORMAT_FIRST || first > FORMAT_LAST)
        return s_read_fixed (self, first, item);
    if (first == FORMAT_UNUSED)
        return s_fail (self, "has the byte 0xc1, which MessagePack does not use");
    const format_t *format = &s_formats [first - FORMAT_FIRST];
    item->kind = format->kind;
    if (format->kind == PACK_BOOL)
        item->number = first & 1;
    else if (!s_take_number (self, format->width, &item->number))
        return false;
    return s_finish (self, item, format->width, format->extra);
}

bool
pack_take_nil (pack_reader_t *self)
{
    if (!self->left.size || self->left.data [0] != FORMAT_NIL)
        return false;
    self->left = span_of (self->left.data + 1, self->left.size - 1);
    return true;
}

//  Strings are keys, and keys have a letter or two.
bool
pack_take_string (pack_reader_t *self, const char *string)
{
    size_t size = 0;
    while (string [size] && size + 1 < self->left.size && self->left.data [size + 1] == (uint8_t)string [size])
        size++;
    if (string [size] || size > FIXSTR_MAX || !self->left.size || self->left.data [0] != (FIXSTR_FIRST | size))
        return false;
    self->left = span_of (self->left.data + size + 1, self->left.size - size - 1);
    return true;
}

static bool
s_skip (pack_reader_t *self, size_t depth)
{
    pack_item_t item;
    if (++self->skipped > PACK_SKIPPED_MAX)
        return s_fail (self, "has too much in it that is not known here");
    if (!pack_read (self, &item))
        return false;
    uint64_t inside = item.kind == PACK_ARRAY ? item.number : item.kind == PACK_MAP ? item.number * 2 : 0;
    if (inside && depth == PACK_DEPTH_MAX)
        return s_fail (self, "nests too deep");
    while (inside--)
        if (!s_skip (self, depth + 1))
            return false;
    return true;
}

bool
pack_skip (pack_reader_t *self)
{
    return s_skip (self, 0);
}

const char *
pack_kind_name (pack_kind_t kind)
{
    static const char *const names [] = {
        [PACK_NIL] = "nil",
        [PACK_BOOL] = "a boolean",
        [PACK_UINT] = "an integer",
        [PACK_INT] = "an integer",
        [PACK_FLOAT] = "a float",
        [PACK_STRING] = "a string",
        [PACK_BIN] = "a bin",
        [PACK_ARRAY] = "an array",
        [PACK_MAP] = "a map",
        [PACK_EXT] = "an ext",
    };
    return names [kind];
}
