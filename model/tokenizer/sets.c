#include "model/tokenizer/sets.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>
#include <string.h>

#include "model/tokenizer/categories.h"
#include "model/tokenizer/search.h"

#define BIT(name) (1u << UTF8PROC_CATEGORY_##name)
#define CASED (BIT (LU) | BIT (LL) | BIT (LT))
#define LETTERS (CASED | BIT (LM) | BIT (LO))
#define MARKS (BIT (MN) | BIT (MC) | BIT (ME))
#define NUMBERS (BIT (ND) | BIT (NL) | BIT (NO))
#define PUNCTUATION (BIT (PC) | BIT (PD) | BIT (PS) | BIT (PE) | BIT (PI) | BIT (PF) | BIT (PO))
#define SYMBOLS (BIT (SM) | BIT (SC) | BIT (SK) | BIT (SO))
#define VISIBLE (LETTERS | MARKS | NUMBERS | PUNCTUATION | SYMBOLS)

//  Marks that have become alphabetic.
#define ALPHABETIC                                                                                                   \
    "\\p{Alphabetic}\\x{363}-\\x{36f}\\x{897}\\x{c04}\\x{cf3}\\x{f82}-\\x{f83}\\x{1dd3}-\\x{1de6}\\x{10d69}"         \
    "\\x{10efc}\\x{11080}-\\x{11081}\\x{11241}\\x{113b8}-\\x{113c0}\\x{113c2}\\x{113c5}\\x{113c7}-\\x{113ca}"        \
    "\\x{113cc}-\\x{113cd}\\x{11f00}-\\x{11f01}\\x{11f03}\\x{11f34}-\\x{11f3a}\\x{11f3e}-\\x{11f40}\\x{1611e}-\\x{1" \
    "612e}\\x{1e08f}"
#define GRAPH "\\p{L}\\p{M}\\p{N}\\p{P}\\p{S}\\p{Cf}\\p{Co}"
#define WORD "\\p{Alphabetic}\\p{M}\\p{Nd}\\p{Pc}"

//  Superscripts and fractions of Latin-1 are of words by themselves, in classes they are not: so it is in Oniguruma's tables.
#define LATIN_NUMBERS "\xc2\xb2\xc2\xb3\xc2\xb9\xc2\xbc\xc2\xbd\xc2\xbe"

static const struct {
    const char *names;      //  Each with a blank on both sides
    const char *members;    //  As PCRE2 knows them
    uint32_t late;          //  A bit for each category of which later characters belong to them
    bool out;               //  They are what the set leaves out
} s_sets [] = {
    { " l letter ", "\\p{L}", LETTERS, false },
    { " lc casedletter ", "\\p{Lu}\\p{Ll}\\p{Lt}", CASED, false },
    { " lu uppercaseletter ", "\\p{Lu}", BIT (LU), false },
    { " ll lowercaseletter ", "\\p{Ll}", BIT (LL), false },
    { " lt titlecaseletter ", "\\p{Lt}", BIT (LT), false },
    { " lm modifierletter ", "\\p{Lm}", BIT (LM), false },
    { " lo otherletter ", "\\p{Lo}", BIT (LO), false },
    { " m mark combiningmark ", "\\p{M}", MARKS, false },
    { " mn nonspacingmark ", "\\p{Mn}", BIT (MN), false },
    { " mc spacingmark ", "\\p{Mc}\\x{1171e}", BIT (MC), false },
    { " me enclosingmark ", "\\p{Me}", BIT (ME), false },
    { " n number ", "\\p{N}", NUMBERS, false },
    { " nd decimalnumber digit :digit: \\d ", "\\p{Nd}", BIT (ND), false },
    { " nl letternumber ", "\\p{Nl}", BIT (NL), false },
    { " no othernumber ", "\\p{No}", BIT (NO), false },
    { " p punctuation punct ", "\\p{P}", PUNCTUATION, false },
    { " pc connectorpunctuation ", "\\p{Pc}", BIT (PC), false },
    { " pd dashpunctuation ", "\\p{Pd}", BIT (PD), false },
    { " ps openpunctuation ", "\\p{Ps}", BIT (PS), false },
    { " pe closepunctuation ", "\\p{Pe}", BIT (PE), false },
    { " pi initialpunctuation ", "\\p{Pi}", BIT (PI), false },
    { " pf finalpunctuation ", "\\p{Pf}", BIT (PF), false },
    { " po otherpunctuation ", "\\p{Po}", BIT (PO), false },
    { " s symbol ", "\\p{S}", SYMBOLS, false },
    { " sm mathsymbol ", "\\p{Sm}", BIT (SM), false },
    { " sc currencysymbol ", "\\p{Sc}", BIT (SC), false },
    { " sk modifiersymbol ", "\\p{Sk}", BIT (SK), false },
    { " so othersymbol ", "\\p{So}", BIT (SO), false },
    { " z separator ", "\\p{Z}", 0, false },
    { " zs spaceseparator ", "\\p{Zs}", 0, false },
    { " zl lineseparator ", "\\p{Zl}", 0, false },
    { " zp paragraphseparator ", "\\p{Zp}", 0, false },
    { " c other ", "\\p{L}\\p{M}\\p{N}\\p{P}\\p{S}\\p{Z}", VISIBLE, true },
    { " cc control cntrl :cntrl: ", "\\p{Cc}", 0, false },
    { " cf format ", "\\p{Cf}", BIT (CF), false },
    { " co privateuse ", "\\p{Co}", 0, false },
    { " cn unassigned ", GRAPH "\\p{Z}\\p{Cc}\\p{Cs}", VISIBLE | BIT (CF), true },
    { " assigned ", GRAPH "\\p{Z}\\p{Cc}\\p{Cs}", VISIBLE | BIT (CF), false },
    { " any ", "\\x{0}-\\x{10ffff}", 0, false },
    { " ascii :ascii: ", "\\x{0}-\\x{7f}", 0, false },
    { " alphabetic alpha :alpha: ", ALPHABETIC, LETTERS | BIT (NL), false },
    { " alnum :alnum: ", ALPHABETIC "\\p{Nd}", LETTERS | BIT (NL) | BIT (ND), false },
    { " uppercase upper :upper: ", "\\p{Uppercase}", BIT (LU), false },
    { " lowercase lower :lower: ", "\\p{Lowercase}\\x{10fc}\\x{a7f2}-\\x{a7f4}\\x{ab69}\\x{1e030}-\\x{1e06d}", BIT (LL),
        false },
    { " :punct: ", "\\p{P}\\p{S}", PUNCTUATION | SYMBOLS, false },
    { " graph :graph: ", GRAPH, VISIBLE | BIT (CF), false },
    { " print :print: ", GRAPH "\\p{Zs}", VISIBLE | BIT (CF), false },
    { " blank :blank: ", "\\p{Zs}\\t", 0, false },
    { " whitespace space :space: \\s ", "\\p{White_Space}", 0, false },
    { " xdigit :xdigit: \\h ", "0-9A-Fa-f", 0, false },
    { " :word: [\\w] ", WORD, LETTERS | MARKS | BIT (ND) | BIT (NL) | BIT (PC), false },
    { " word \\w ", WORD LATIN_NUMBERS, LETTERS | MARKS | BIT (ND) | BIT (NL) | BIT (PC), false },
};

//  Characters after Unicode 14 by script.
static const struct {
    const char *script;     //  Its name
    const char *members;    //  What came
} s_scripts [] = {
    { "arabic", "\\x{897}\\x{10ec2}-\\x{10ec4}\\x{10efc}-\\x{10eff}" },
    { "balinese", "\\x{1b4e}-\\x{1b4f}\\x{1b7f}" },
    { "common", "\\x{2427}-\\x{2429}\\x{2ffc}-\\x{2fff}\\x{31e4}-\\x{31e5}\\x{31ef}\\x{1cc00}-\\x{1ccf9}\\x{1cd00}-\\x{"
                "1ceb3}\\x{1d2c0}-\\x{1d2d3}\\x{1f6dc}\\x{1f774}-\\x{1f776}\\x{1f77b}-\\x{1f77f}\\x{1f7d9}\\x{1f8b2}-\\"
                "x{1f8bb}\\x{1f8c0}-\\x{1f8c1}\\x{1fa75}-\\x{1fa77}\\x{1fa87}-\\x{1fa89}\\x{1fa8f}\\x{1faad}-\\x{1faaf}"
                "\\x{1fabb}-\\x{1fabf}\\x{1fac6}\\x{1face}-\\x{1facf}\\x{1fada}-\\x{1fadc}\\x{1fadf}\\x{1fae8}-\\x{1fae"
                "9}\\x{1faf7}-\\x{1faf8}\\x{1fbcb}-\\x{1fbef}" },
    { "cyrillic", "\\x{1c89}-\\x{1c8a}\\x{1e030}-\\x{1e06d}\\x{1e08f}" },
    { "devanagari", "\\x{11b00}-\\x{11b09}" },
    { "egyptianhieroglyphs", "\\x{1342f}\\x{13439}-\\x{13455}\\x{13460}-\\x{143fa}" },
    { "han", "\\x{2b739}\\x{2ebf0}-\\x{2ee5d}\\x{31350}-\\x{323af}" },
    { "hiragana", "\\x{1b132}" },
    { "kannada", "\\x{cf3}" },
    { "katakana", "\\x{1b155}" },
    { "khojki", "\\x{1123f}-\\x{11241}" },
    { "lao", "\\x{ece}" },
    { "latin", "\\x{a7cb}-\\x{a7cd}\\x{a7da}-\\x{a7dc}\\x{1df25}-\\x{1df2a}" },
    { "myanmar", "\\x{116d0}-\\x{116e3}" },
};

static bool
s_is_named (const char *names, const char *name)
{
    span_t all = span_from_string (names), one = span_from_string (name);
    for (size_t at; (at = search_find (all, one)) < all.size; all = span_slice (all, at + 1, all.size))
        if (at && all.data [at - 1] == ' ' && all.data [at + one.size] == ' ')
            return true;
    return false;
}

static void
s_put_late (uint32_t categories, buffer_t *members)
{
    const categories_row_t *row;
    for (size_t i = 0; (row = categories_later (i)); i++)
        if (categories >> row->category & 1)
            buffer_print (members, "\\x{%x}-\\x{%x}", row->first, row->last);
}

//  To Oniguruma a script is all that belongs to it, \p{sc:...} to PCRE2, where the bare name means all that is used in it, too.
static bool
s_put_script (const char *name, buffer_t *members)
{
    buffer_t pattern = { 0 };
    int number;
    PCRE2_SIZE place;
    buffer_print (&pattern, "\\p{sc:%s}", name);
    pcre2_code *code = pcre2_compile (pattern.data, pattern.size, PCRE2_UTF, &number, &place, NULL);
    if (code)
        buffer_append (members, buffer_span (&pattern));
    for (size_t i = 0; i < sizeof s_scripts / sizeof *s_scripts && code; i++)
        if (strcmp (s_scripts [i].script, name) == 0)
            buffer_append_string (members, s_scripts [i].members);
    pcre2_code_free (code);
    buffer_fini (&pattern);
    return code != NULL;
}

set_t
sets_put (const char *name, buffer_t *members)
{
    for (size_t i = 0; *name && i < sizeof s_sets / sizeof *s_sets; i++)
        if (s_is_named (s_sets [i].names, name)) {
            buffer_append_string (members, s_sets [i].members);
            s_put_late (s_sets [i].late, members);
            return s_sets [i].out ? SET_OUT : SET_IN;
        }
    return s_put_script (name, members) ? SET_IN : SET_UNKNOWN;
}
