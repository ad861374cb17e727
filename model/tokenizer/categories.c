#include "model/tokenizer/categories.h"

#include <stddef.h>

//  Characters of one category that came one behind the other.
typedef struct {
    uint32_t first;      //  From
    uint32_t last;       //  to
    uint8_t category;    //  they are of this
} later_t;

#define LATER(first, last, name)              \
    {                                         \
        first, last, UTF8PROC_CATEGORY_##name \
    }

//  What came after Unicode 14, which every library knows that we are built with: letters, marks, numbers, punctuation and symbols
//  of versions 15.0, 15.1 and 16.0 (UnicodeData.txt), in order.
static const later_t s_later [] = { LATER (0x0897, 0x0897, MN), LATER (0x0cf3, 0x0cf3, MC), LATER (0x0ece, 0x0ece, MN),
    LATER (0x1b4e, 0x1b4f, PO), LATER (0x1b7f, 0x1b7f, PO), LATER (0x1c89, 0x1c89, LU), LATER (0x1c8a, 0x1c8a, LL),
    LATER (0x2427, 0x2429, SO), LATER (0x2ffc, 0x2fff, SO), LATER (0x31e4, 0x31e5, SO), LATER (0x31ef, 0x31ef, SO),
    LATER (0xa7cb, 0xa7cc, LU), LATER (0xa7cd, 0xa7cd, LL), LATER (0xa7da, 0xa7da, LU), LATER (0xa7db, 0xa7db, LL),
    LATER (0xa7dc, 0xa7dc, LU), LATER (0x105c0, 0x105f3, LO), LATER (0x10d40, 0x10d49, ND),
    LATER (0x10d4a, 0x10d4d, LO), LATER (0x10d4e, 0x10d4e, LM), LATER (0x10d4f, 0x10d4f, LO),
    LATER (0x10d50, 0x10d65, LU), LATER (0x10d69, 0x10d6d, MN), LATER (0x10d6e, 0x10d6e, PD),
    LATER (0x10d6f, 0x10d6f, LM), LATER (0x10d70, 0x10d85, LL), LATER (0x10d8e, 0x10d8f, SM),
    LATER (0x10ec2, 0x10ec4, LO), LATER (0x10efc, 0x10eff, MN), LATER (0x1123f, 0x11240, LO),
    LATER (0x11241, 0x11241, MN), LATER (0x11380, 0x11389, LO), LATER (0x1138b, 0x1138b, LO),
    LATER (0x1138e, 0x1138e, LO), LATER (0x11390, 0x113b5, LO), LATER (0x113b7, 0x113b7, LO),
    LATER (0x113b8, 0x113ba, MC), LATER (0x113bb, 0x113c0, MN), LATER (0x113c2, 0x113c2, MC),
    LATER (0x113c5, 0x113c5, MC), LATER (0x113c7, 0x113ca, MC), LATER (0x113cc, 0x113cd, MC),
    LATER (0x113ce, 0x113ce, MN), LATER (0x113cf, 0x113cf, MC), LATER (0x113d0, 0x113d0, MN),
    LATER (0x113d1, 0x113d1, LO), LATER (0x113d2, 0x113d2, MN), LATER (0x113d3, 0x113d3, LO),
    LATER (0x113d4, 0x113d5, PO), LATER (0x113d7, 0x113d8, PO), LATER (0x113e1, 0x113e2, MN),
    LATER (0x116d0, 0x116e3, ND), LATER (0x11b00, 0x11b09, PO), LATER (0x11bc0, 0x11be0, LO),
    LATER (0x11be1, 0x11be1, PO), LATER (0x11bf0, 0x11bf9, ND), LATER (0x11f00, 0x11f01, MN),
    LATER (0x11f02, 0x11f02, LO), LATER (0x11f03, 0x11f03, MC), LATER (0x11f04, 0x11f10, LO),
    LATER (0x11f12, 0x11f33, LO), LATER (0x11f34, 0x11f35, MC), LATER (0x11f36, 0x11f3a, MN),
    LATER (0x11f3e, 0x11f3f, MC), LATER (0x11f40, 0x11f40, MN), LATER (0x11f41, 0x11f41, MC),
    LATER (0x11f42, 0x11f42, MN), LATER (0x11f43, 0x11f4f, PO), LATER (0x11f50, 0x11f59, ND),
    LATER (0x11f5a, 0x11f5a, MN), LATER (0x1342f, 0x1342f, LO), LATER (0x13440, 0x13440, MN),
    LATER (0x13441, 0x13446, LO), LATER (0x13447, 0x13455, MN), LATER (0x13460, 0x143fa, LO),
    LATER (0x16100, 0x1611d, LO), LATER (0x1611e, 0x16129, MN), LATER (0x1612a, 0x1612c, MC),
    LATER (0x1612d, 0x1612f, MN), LATER (0x16130, 0x16139, ND), LATER (0x16d40, 0x16d42, LM),
    LATER (0x16d43, 0x16d6a, LO), LATER (0x16d6b, 0x16d6c, LM), LATER (0x16d6d, 0x16d6f, PO),
    LATER (0x16d70, 0x16d79, ND), LATER (0x18cff, 0x18cff, LO), LATER (0x1b132, 0x1b132, LO),
    LATER (0x1b155, 0x1b155, LO), LATER (0x1cc00, 0x1ccef, SO), LATER (0x1ccf0, 0x1ccf9, ND),
    LATER (0x1cd00, 0x1ceb3, SO), LATER (0x1d2c0, 0x1d2d3, NO), LATER (0x1df25, 0x1df2a, LL),
    LATER (0x1e030, 0x1e06d, LM), LATER (0x1e08f, 0x1e08f, MN), LATER (0x1e4d0, 0x1e4ea, LO),
    LATER (0x1e4eb, 0x1e4eb, LM), LATER (0x1e4ec, 0x1e4ef, MN), LATER (0x1e4f0, 0x1e4f9, ND),
    LATER (0x1e5d0, 0x1e5ed, LO), LATER (0x1e5ee, 0x1e5ef, MN), LATER (0x1e5f0, 0x1e5f0, LO),
    LATER (0x1e5f1, 0x1e5fa, ND), LATER (0x1e5ff, 0x1e5ff, PO), LATER (0x1f6dc, 0x1f6dc, SO),
    LATER (0x1f774, 0x1f776, SO), LATER (0x1f77b, 0x1f77f, SO), LATER (0x1f7d9, 0x1f7d9, SO),
    LATER (0x1f8b2, 0x1f8bb, SO), LATER (0x1f8c0, 0x1f8c1, SO), LATER (0x1fa75, 0x1fa77, SO),
    LATER (0x1fa87, 0x1fa89, SO), LATER (0x1fa8f, 0x1fa8f, SO), LATER (0x1faad, 0x1faaf, SO),
    LATER (0x1fabb, 0x1fabf, SO), LATER (0x1fac6, 0x1fac6, SO), LATER (0x1face, 0x1facf, SO),
    LATER (0x1fada, 0x1fadc, SO), LATER (0x1fadf, 0x1fadf, SO), LATER (0x1fae8, 0x1fae9, SO),
    LATER (0x1faf7, 0x1faf8, SO), LATER (0x1fbcb, 0x1fbef, SO), LATER (0x2b739, 0x2b739, LO),
    LATER (0x2ebf0, 0x2ee5d, LO), LATER (0x31350, 0x323af, LO) };

utf8proc_category_t
categories_of (uint32_t code)
{
    utf8proc_category_t category = utf8proc_category ((utf8proc_int32_t)code);
    size_t low = 0, high = sizeof s_later / sizeof *s_later;
    while (category == UTF8PROC_CATEGORY_CN && low < high) {
        size_t middle = (low + high) / 2;
        if (code < s_later [middle].first)
            high = middle;
        else if (code > s_later [middle].last)
            low = middle + 1;
        else
            category = s_later [middle].category;
    }
    return category;
}
