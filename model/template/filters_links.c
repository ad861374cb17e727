//  filters_links - urlize: addresses in a text become links
//
//  Jinja2 knows an address by two regular expressions (jinja2.utils: _http_re, _email_re).  Both end a host at a byte that no host
//  has, and a domain at its last dot, so an address is taken apart here from left to right, without trying again.

#include <string.h>

#include "model/template/filters.h"
#include "model/template/unicode.h"

enum { LABEL_MAX = 63, ACE_MAX = 59, PORT_MAX = 5, OCTET_MAX = 3, GROUP_MAX = 4, GROUPS_MAX = 6, BYTES_A_STEP = 16 };

//  ---- Characters ----------------------------------------------------------------------------------------------------

typedef bool (is_fn) (uint32_t point);

static bool
s_is_word (uint32_t point)
{
    return point == '_' || unicode_is_alphanumeric (point);
}

static bool
s_is_ace (uint32_t point)
{
    return point == '%' || s_is_word (point);
}

static bool
s_is_label (uint32_t point)
{
    return point == '-' || s_is_ace (point);
}

static bool
s_is_host (uint32_t point)
{
    return point == '-' || point == '.' || s_is_word (point);
}

static bool
s_is_scheme (uint32_t point)
{
    return point == '+' || s_is_host (point);
}

//  Without case as Python's re has it: four letters beyond ASCII are another case of one inside.
static uint32_t
s_fold (uint32_t point)
{
    bool upper = point >= 'A' && point <= 'Z';
    bool is_i = point == 0x130 || point == 0x131;
    return upper ? point + 'a' - 'A' : is_i ? 'i' : point == 0x17f ? 's' : point == 0x212a ? 'k' : point;
}

static bool
s_is_latin (uint32_t point)
{
    return s_fold (point) >= 'a' && s_fold (point) <= 'z';
}

static bool
s_is_hex (uint32_t point)
{
    return unicode_is_decimal (point) || (s_fold (point) >= 'a' && s_fold (point) <= 'f');
}

//  Takes characters of a kind from the front, at most so many; how many.
static size_t
s_take_run (span_t *text, is_fn *is, size_t most)
{
    size_t count = 0;
    for (size_t size; text->size && count < most && is (unicode_decode (*text, &size)); count++)
        *text = span_slice (*text, size, text->size);
    return count;
}

static bool
s_consists (span_t text, is_fn *is, size_t least, size_t most)
{
    return s_take_run (&text, is, most) >= least && !text.size;
}

//  Takes a word in lower case from the front, whatever its case there.
static bool
s_take_word (span_t *text, const char *word)
{
    span_t rest = *text;
    for (size_t size; *word; word++) {
        if (!rest.size || s_fold (unicode_decode (rest, &size)) != (uint8_t)*word)
            return false;
        rest = span_slice (rest, size, rest.size);
    }
    *text = rest;
    return true;
}

static bool
s_take_scheme (span_t *text)
{
    span_t rest = *text;
    bool web = s_take_word (&rest, "http");
    s_take_word (&rest, "s");
    web = web && s_take_word (&rest, "://");
    *text = web ? rest : *text;
    return web;
}

//  ---- Addresses -----------------------------------------------------------------------------------------------------

//  Takes what ends in a dot from the front, again and again; how many.  SIZE_MAX where one of them is no label.
static size_t
s_take_labels (span_t *host, size_t least, size_t most)
{
    size_t count = 0;
    for (size_t dot; (dot = span_find_byte (*host, '.')) < host->size; count++) {
        if (!s_consists (span_slice (*host, 0, dot), s_is_label, least, most))
            return SIZE_MAX;
        *host = span_slice (*host, dot + 1, host->size);
    }
    return count;
}

static bool
s_is_name (span_t host)
{
    if (s_take_labels (&host, 1, SIZE_MAX) == SIZE_MAX)
        return false;
    return s_consists (host, s_is_latin, 2, LABEL_MAX) ||
           (s_take_word (&host, "xn--") && s_consists (host, s_is_ace, 2, ACE_MAX));
}

//  One that is a name without a scheme, too.
static bool
s_is_common_name (span_t host)
{
    static const char *const tops [] = { "com", "net", "int", "edu", "gov", "org", "info", "mil" };
    size_t labels = s_take_labels (&host, 2, LABEL_MAX);
    for (size_t i = 0; labels && labels != SIZE_MAX && i < sizeof tops / sizeof *tops; i++) {
        span_t rest = host;
        if (s_take_word (&rest, tops [i]) && !rest.size)
            return true;
    }
    return false;
}

static bool
s_is_ipv4 (span_t host)
{
    for (int octet = 0; octet < 4; octet++) {
        if ((octet && !s_take_word (&host, ".")) || !s_take_run (&host, unicode_is_decimal, OCTET_MAX))
            return false;
    }
    return !host.size;
}

//  Two groups that end in a colon, and at most six that may.
static bool
s_is_ipv6 (span_t inside)
{
    for (int group = 0; group < 2; group++) {
        s_take_run (&inside, s_is_hex, GROUP_MAX);
        if (!s_take_word (&inside, ":"))
            return false;
    }
    for (int group = 0; group < GROUPS_MAX; group++) {
        s_take_run (&inside, s_is_hex, GROUP_MAX);
        s_take_word (&inside, ":");
    }
    return !inside.size;
}

//  A port and a path, or none of them.
static bool
s_is_behind_host (span_t rest)
{
    if (s_take_word (&rest, ":") && !s_take_run (&rest, unicode_is_decimal, PORT_MAX))
        return false;
    return !rest.size || strchr ("/?#", rest.data [0]);
}

static bool
s_is_web_address (span_t text)
{
    bool schemed = s_take_scheme (&text);
    if (schemed && s_take_word (&text, "[")) {
        size_t end = span_find_byte (text, ']');
        return end < text.size && s_is_ipv6 (span_slice (text, 0, end)) &&
               s_is_behind_host (span_slice (text, end + 1, text.size));
    }
    size_t end = 0;
    while (end < text.size && (!text.data [end] || !strchr (":/?#", text.data [end])))
        end++;
    span_t host = span_slice (text, 0, end);
    if (!s_is_behind_host (span_slice (text, end, text.size)))
        return false;
    if (schemed)
        return s_is_name (host) || s_is_ipv4 (host);
    return s_is_common_name (host) || (s_take_word (&host, "www.") && s_is_name (host));
}

//  Something, the last @, and a host with a dot before its last word.
static bool
s_is_mail_address (span_t text)
{
    size_t at = text.size, dot;
    while (at && text.data [at - 1] != '@')
        at--;
    span_t host = span_slice (text, at, text.size);
    for (dot = host.size; dot && host.data [dot - 1] != '.'; dot--)
        ;
    size_t size;
    return at > 1 && dot > 1 && s_is_word (unicode_decode (host, &size)) && dot > size &&
           s_consists (span_slice (host, 0, dot - 1), s_is_host, 1, SIZE_MAX) &&
           s_consists (span_slice (host, dot, host.size), s_is_word, 1, SIZE_MAX);
}

//  ---- Links ---------------------------------------------------------------------------------------------------------

typedef struct {
    render_t *render;        //  For errors
    buffer_t out;            //  The text with its links
    value_t attributes;      //  Of a link, each with a blank before it
    const value_t *limit;    //  Characters that a link shows; NULL or None: all
    value_t *schemes;        //  More of them that make a link
    size_t scheme_count;     //  How many
} links_t;

static void
s_print_link (links_t *self, const char *scheme, span_t address, span_t shown, const char *more)
{
    buffer_print (&self->out, "<a href=\"%s", scheme);
    buffer_append (&self->out, address);
    buffer_append_byte (&self->out, '"');
    if (more)
        value_write (&self->render->heap, self->attributes.as.text, &self->out);
    buffer_append_byte (&self->out, '>');
    buffer_append (&self->out, shown);
    buffer_append_string (&self->out, more ? more : "");
    buffer_append_string (&self->out, "</a>");
}

static void
s_print_web_link (links_t *self, span_t address)
{
    const value_t *limit = self->limit;
    bool full = span_starts_with (address, SPAN ("https://")) || span_starts_with (address, SPAN ("http://"));
    int64_t length = (int64_t)value_text_length (address), most = length;
    if (limit && limit->kind == VALUE_INT)
        most = limit->as.integer;
    else if (limit && limit->kind == VALUE_BOOL)
        most = limit->as.truth;
    else if (limit && limit->kind != VALUE_NONE)
        value_fail (&self->render->heap, "TypeError: a limit is a whole number, not '%s'", value_type_name (*limit));
    bool cut = length > most;
    most = most < 0 ? most + length : most;
    span_t shown = cut ? value_text_range (address, 0, most < 0 ? 0 : (size_t)most) : address;
    s_print_link (self, full ? "" : "https://", address, shown, cut ? "..." : "");
}

//  A link where one of the other schemes begins the word and does not end it.
static void
s_print_schemed (links_t *self, span_t word)
{
    for (size_t i = 0; i < self->scheme_count; i++) {
        span_t scheme = self->schemes [i].as.text;
        if (word.size != scheme.size && span_starts_with (word, scheme)) {
            s_print_link (self, "", word, word, "");
            return;
        }
    }
    buffer_append (&self->out, word);
}

static bool
s_has (span_t text, char byte)
{
    return span_find_byte (text, (uint8_t)byte) < text.size;
}

static void
s_print_address (links_t *self, span_t word)
{
    span_t mail = SPAN ("mailto:");
    bool plain = s_has (word, '@') && !s_has (word, ':') && word.data [0] != '@';
    if (s_is_web_address (word))
        s_print_web_link (self, word);
    else if (span_starts_with (word, mail) && s_is_mail_address (span_slice (word, mail.size, word.size)))
        s_print_link (self, "", word, span_slice (word, mail.size, word.size), NULL);
    else if (plain && !span_starts_with (word, SPAN ("www.")) && s_is_mail_address (word))
        s_print_link (self, "mailto:", word, word, NULL);
    else
        s_print_schemed (self, word);
}

//  ---- Words ---------------------------------------------------------------------------------------------------------

//  Bytes of a bracket at the front of a text that may stand before an address.
static size_t
s_opening (span_t text)
{
    bool bracket = text.size && (text.data [0] == '(' || text.data [0] == '<');
    return bracket ? 1 : span_starts_with (text, SPAN ("&lt;")) ? 4 : 0;
}

//  The same at the end, for what may stand behind one.
static size_t
s_closing (span_t text)
{
    bool mark = text.size && text.data [text.size - 1] && strchr (")>.,", text.data [text.size - 1]);
    return mark ? 1 : text.size >= 4 && memcmp (text.data + text.size - 4, "&gt;", 4) == 0 ? 4 : 0;
}

static size_t
s_count (span_t text, span_t part)
{
    size_t count = 0;
    for (span_t found; (found = filters_find (text, part)).data; count++)
        text = span_slice (text, (size_t)(found.data - text.data) + part.size, text.size);
    return count;
}

//  Brackets that are open in the word are closed from what stands behind it; where the word ends then.
static size_t
s_balance (span_t text, size_t end)
{
    static const struct {
        const char *open;     //  Bracket
        const char *close;    //  Its other
    } pairs [] = { { "(", ")" }, { "<", ">" }, { "&lt;", "&gt;" } };
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        span_t close = span_from_string (pairs [i].close), found;
        size_t open = s_count (span_slice (text, 0, end), span_from_string (pairs [i].open));
        if (open <= s_count (span_slice (text, 0, end), close))
            continue;
        for (; open && (found = filters_find (span_slice (text, end, text.size), close)).data; open--)
            end = (size_t)(found.data - text.data) + close.size;
    }
    return end;
}

static void
s_print_word (links_t *self, span_t word)
{
    size_t begin = 0, size;
    while ((size = s_opening (span_slice (word, begin, word.size))))
        begin += size;
    span_t rest = span_slice (word, begin, word.size);
    size_t end = rest.size;
    while ((size = s_closing (span_slice (rest, 0, end))))
        end -= size;
    end = s_balance (rest, end);
    buffer_append (&self->out, span_slice (word, 0, begin));
    s_print_address (self, span_slice (rest, 0, end));
    buffer_append (&self->out, span_slice (rest, end, rest.size));
}

static bool
s_is_visible (uint32_t point)
{
    return !unicode_is_space (point);
}

static void
s_print_words (links_t *self, span_t text)
{
    while (text.size && value_step (&self->render->heap, 1)) {
        span_t rest = text;
        s_take_run (&rest, unicode_is_space, SIZE_MAX);
        buffer_append (&self->out, span_slice (text, 0, text.size - rest.size));
        text = rest;
        s_take_run (&rest, s_is_visible, SIZE_MAX);
        s_print_word (self, span_slice (text, 0, text.size - rest.size));
        text = rest;
    }
}

//  ---- Arguments -----------------------------------------------------------------------------------------------------

static value_t
s_escape (render_t *render, value_t value)
{
    return render_filter (render, SPAN ("escape"), value, &(args_t){ 0 });
}

//  The words of rel, and what Jinja adds: each once, in order.
static value_t
s_relations (render_t *render, value_t rel, bool nofollow)
{
    value_t exact [] = { value_bool (false), value_bool (true) }, blank = value_text (SPAN (" "));
    value_t words = value_new_list (&render->heap, VALUE_LIST);
    if (value_is_true (rel) && rel.kind != VALUE_STRING)
        return value_fail (
            &render->heap, "AttributeError: '%s' object has no attribute 'split'", value_type_name (rel));
    if (value_is_true (rel))
        words = render_builtin (render, builtin_find (methods_of_text, SPAN ("split")), rel, &(args_t){ 0 });
    if (nofollow && !value_heap_failed (&render->heap))
        value_list_add (&render->heap, words.as.list, value_text (SPAN ("nofollow")));
    if (!value_heap_failed (&render->heap))
        value_list_add (&render->heap, words.as.list, value_text (SPAN ("noopener")));
    words = render_filter (render, SPAN ("sort"), words, &(args_t){ .items = exact, .count = 2 });
    words = render_filter (render, SPAN ("unique"), words, &(args_t){ .items = &exact [1], .count = 1 });
    return render_filter (render, SPAN ("join"), words, &(args_t){ .items = &blank, .count = 1 });
}

static value_t
s_attributes (render_t *render, const args_t *args)
{
    buffer_t out = { 0 };
    bool nofollow = value_is_true (args_or (args, 1, "nofollow", value_bool (false)));
    value_t rel = s_relations (render, args_or (args, 3, "rel", value_none ()), nofollow);
    value_t target = args_or (args, 2, "target", value_none ());
    buffer_append_string (&out, " rel=\"");
    value_print (&render->heap, s_escape (render, rel), &out);
    buffer_append_byte (&out, '"');
    if (value_is_true (target)) {
        buffer_append_string (&out, " target=\"");
        value_print (&render->heap, s_escape (render, target), &out);
        buffer_append_byte (&out, '"');
    }
    return value_take_buffer (&render->heap, &out);
}

//  A scheme and a colon, and at most two slashes.
static bool
s_is_scheme_prefix (value_t value)
{
    span_t rest = value.kind == VALUE_STRING ? value.as.text : SPAN ("");
    if (s_take_run (&rest, s_is_scheme, SIZE_MAX) < 2 || !s_take_word (&rest, ":"))
        return false;
    s_take_word (&rest, "/");
    s_take_word (&rest, "/");
    return !rest.size;
}

static bool
s_read_schemes (links_t *self, const value_t *schemes)
{
    value_heap_t *heap = &self->render->heap;
    if (!schemes || schemes->kind == VALUE_NONE)
        return true;
    if (!value_items (heap, *schemes, &self->schemes, &self->scheme_count))
        return false;
    for (size_t i = 0; i < self->scheme_count && value_step (heap, 1); i++)
        if (!s_is_scheme_prefix (self->schemes [i]))
            value_fail (heap, "FilterArgumentError: one of the schemes is not a valid URI scheme prefix");
    return !value_heap_failed (heap);
}

value_t
filters_urlize (render_t *render, value_t self, const args_t *args)
{
    links_t links = { .render = render, .limit = args_get (args, 0, "trim_url_limit") };
    span_t text = s_escape (render, self).as.text;
    if (!s_read_schemes (&links, args_get (args, 4, "extra_schemes")))
        return (value_t){ 0 };
    links.attributes = s_attributes (render, args);
    if (value_step (&render->heap, text.size / BYTES_A_STEP))
        s_print_words (&links, text);
    value_t linked = value_take_buffer (&render->heap, &links.out);
    linked.safe = render->escapes;
    return linked;
}
