#include "model/tokenizer/pre.h"

#include <string.h>

#include "model/tokenizer/search.h"

#define GPT2 "'s|'t|'re|'ve|'m|'ll|'d| ?\\p{L}+| ?\\p{N}+| ?[^\\s\\p{L}\\p{N}]+|\\s+(?!\\S)"
#define LLAMA3                                                                                             \
    "(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}{1,3}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]" \
    "*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+"
#define QWEN2                                                                                              \
    "(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|\\s" \
    "*[\\r\\n]+|\\s+(?!\\S)|\\s+"
#define O200K                                                                                              \
    "[^\\r\\n\\p{L}\\p{N}]?[\\p{Lu}\\p{Lt}\\p{Lm}\\p{Lo}\\p{M}]*[\\p{Ll}\\p{Lm}\\p{Lo}\\p{M}]+(?i:'s|'t|'" \
    "re|'ve|'m|'ll|'d)?|[^\\r\\n\\p{L}\\p{N}]?[\\p{Lu}\\p{Lt}\\p{Lm}\\p{Lo}\\p{M}]+[\\p{Ll}\\p{Lm}\\p{Lo}" \
    "\\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?|\\p{N}{1,3}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n/]*|\\s*[\\r\\n]+|\\s+" \
    "(?!\\S)|\\s+"
#define CJK "[一-龥぀-ゟ゠-ヿ]+"
#define DEEPSEEK                                                                                          \
    "[!\"#$%&'()*+,\\-./:;<=>?@\\[\\\\\\]^_`{|}~][A-Za-z]+|[^\r\n\\p{L}\\p{P}\\p{S}]?[\\p{L}\\p{M}]+| ?[" \
    "\\p{P}\\p{S}]+[\r\n]*|\\s*[\r\n]+|\\s+(?!\\S)|\\s+"

static const pre_t s_pres [] = {
    { .names = " default ", .expressions = { "[\\p{P}\\$\\+<=>\\^~\\|]+", GPT2, "\\p{N}+", "[0-9][0-9][0-9]" } },
    { .names = " llama3 llama-v3 llama-bpe falcon3 falcon-h1 pixtral midm-2.0 lfm2 jina-v5-nano ",
        .expressions = { LLAMA3 },
        .ignore_merges = true,
        .add_bos = true },
    { .names = " dbrx smaug-bpe glm4 chatglm-bpe ", .expressions = { LLAMA3 } },
    { .names = " minicpm5 ",
        .expressions = { "\\p{N}{1,3}",
            "(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}+| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|\\"
            "s*[\\r\\n]+|\\s+(?!\\S)|\\s+" },
        .ignore_merges = true },
    { .names = " jais-2 ",
        .expressions = { "(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}{1,3}| "
                         "?[^\\s\\p{L}\\p{N}]+[\\r\\n]"
                         "*|\\s*[\\r\\n]+|\\s{512}(?!\\S)|\\s{256}(?!\\S)|\\s{128}(?!\\S)|\\s{64}(?!\\S)|\\s{32}(?!\\S)"
                         "|\\s{16"
                         "}(?!\\S)|\\s{8}(?!\\S)|\\s{4}(?!\\S)|\\s{1,2}(?!\\S)|\\s{1}" } },
    { .names = " deepseek-llm ",
        .expressions = { "[\r\n]",
            "\\s?[A-Za-zµÀ-ÖØ-öø-ƺƼ-ƿǄ-ʓʕ-ʯͰ-ͳͶͷͻ-ͽͿΆΈ-ΊΌΎ-ΡΣ-ϵϷ-ҁҊ-ԯԱ-ՖႠ-ჅᎠ-"
            "Ᏽᏸ-"
            "ᏽᲐ-"
            "ᲺᲽ-"
            "Ჿᴀ-"
            "ᴫᵫ-"
            "ᵷᵹ-"
            "ᶚḀ-"
            "ἕἘ-"
            "Ἕἠ-ὅὈ-Ὅὐ-ὗὙὛ"
            "ὝὟ-ώᾀ-ᾴᾶ-ᾼιῂ-ῄῆ-ῌῐ-ΐῖ-Ίῠ-Ῥῲ-ῴῶ-ῼℂℇℊ-ℓℕℙ-ℝℤΩℨK-ℭℯ-ℴℹℼ-ℿⅅ-ⅉⅎↃↄⰀ-ⱻⱾ-ⳤⳫ-ⳮⳲⳳꙀ-ꙭꚀ-"
            "ꚛꜢ-"
            "ꝯꝱ-"
            "ꞇꞋ-"
            "ꞎꭰ-"
            "ꮿﬀ-"
            "ﬆﬓ-"
            "ﬗＡ-"
            "Ｚａ-"
            "ｚ𐐀-𐑏𐒰-𐓓𐓘-𐓻𐲀-𐲲𐳀-𐳲𑢠-𑣟𞤀-𞥃]+",
            "\\s?[!-/:-~！-／：-～‘-‟　-。]+", "\\s+$", "[一-龥ࠀ-一가-퟿]+", "\\p{N}+" } },
    { .names = " deepseek-coder ",
        .expressions = { "[\r\n]", "\\s?\\p{L}+", "\\s?\\p{P}+", "[一-龥ࠀ-一가-퟿]+", "\\p{N}" } },
    { .names = " deepseek-v3 hunyuan-dense joyai-llm hy_v4 ", .expressions = { "\\p{N}{1,3}", CJK, DEEPSEEK } },
    { .names = " falcon ", .expressions = { "[\\p{P}\\$\\+<=>\\^~\\|`]+", GPT2, "[0-9][0-9][0-9]" } },
    { .names = " starcoder refact command-r smollm codeshell exaone minerva-7b mellum2 ",
        .expressions = { "\\p{N}", GPT2 } },
    { .names = " gpt-2 phi-2 jina-es jina-de gigachat jina-v2-es jina-v2-de a.x-4.0 mellum modern-bert jina-v1-en ji"
               "na-v2-code roberta-bpe mpt olmo jais trillion granite-docling exaone4 ",
        .expressions = { GPT2 } },
    { .names = " qwen2 deepseek-r1-qwen kormo f2llmv2 stablelm2 hunyuan solar-open megrez grok-2 ",
        .expressions = { QWEN2 } },
    { .names = " qwen35 ",
        .expressions = { "(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{L}\\p{N}]?[\\p{L}\\p{M}]+|\\p{N}| "
                         "?[^\\s\\p{L}\\p{M}\\p{N}]"
                         "+[\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+" } },
    { .names = " ufakzeka ",
        .expressions = { "[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}| "
                         "?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+" } },
    { .names = " poro-chat bloom gpt3-finnish ", .expressions = { " ?[^(\\s|.,!?…。，、।۔،)]+" } },
    { .names = " viking ", .expressions = { " ?[^(\\s|.,!?…。，、।۔،)]+", "\\p{N}" } },
    { .names = " tekken ",
        .expressions = { "[^\\r\\n\\p{L}\\p{N}]?[\\p{Lu}\\p{Lt}\\p{Lm}\\p{Lo}\\p{M}]*[\\p{Ll}\\p{Lm}\\p{Lo}\\p{M}]+|[^"
                         "\\r\\n\\"
                         "p{L}\\p{N}]?[\\p{Lu}\\p{Lt}\\p{Lm}\\p{Lo}\\p{M}]+[\\p{Ll}\\p{Lm}\\p{Lo}\\p{M}]*|\\p{N}| "
                         "?[^\\s\\p{L}"
                         "\\p{N}]+[\\r\\n/]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+" },
        .ignore_merges = true,
        .add_bos = true },
    { .names = " chameleon ",
        .expressions = { "<sentinel:[0-9]+>", "(IMGIMG)((A|B|C|D|E|F|G|H|I){1,4})Z", "([\\t\\n]|    |  )", "\\p{N}",
            "[\\p{P}!-/:-@\\[-`{-~]", GPT2 },
        .add_bos = true },
    { .names = " gpt-4o llama4 kanana2 talkie minimax-m2 ", .expressions = { O200K } },
    { .names = " granite-embed-multi-97m ", .expressions = { O200K }, .ignore_merges = true },
    { .names = " tiny_aya cohere2moe ", .expressions = { "\\d{1,3}(?=(?:\\d{3})*\\b)", O200K } },
    { .names = " afmoe ",
        .expressions = { "\\d{1,3}(?=(?:\\d{3})*\\b)",
            "[一-鿿㐀-䶿豈-﫿぀-ゟ゠-ヿ･-ﾟ⼀-⿟เ-๿຀-໿ក-៿က-႟ꩠ-ꩿꧠ-꧿가-힯ᄀ-"
            "ᇿ]"
            "+",
            "[!\"#$%&'()*+,\\-./:;<=>?@\\[\\\\\\]^_`{|}~][A-Za-z]+|[^\\r\\n\\p{L}\\p{P}\\p{S}]?[\\p{L}\\p{M}]+| ?"
            "[\\p{P}\\p{S}]+[\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+" } },
    { .names = " kimi-k2 ",
        .expressions = { "[\\p{Han}]+|[^\\r\\n\\p{L}\\p{N}]?[\\p{Lu}\\p{Lt}\\p{Lm}\\p{Lo}\\p{M}&&[^\\p{Han}]]*[\\p{Ll}"
                         "\\p{Lm}"
                         "\\p{Lo}\\p{M}&&[^\\p{Han}]]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?|[^\\r\\n\\p{L}\\p{N}]?[\\p{Lu}\\p{"
                         "Lt}\\p{L"
                         "m}\\p{Lo}\\p{M}&&[^\\p{Han}]]+[\\p{Ll}\\p{Lm}\\p{Lo}\\p{M}&&[^\\p{Han}]]*(?i:'s|'t|'re|'ve|'"
                         "m|'ll|'d"
                         ")?|\\p{N}{1,3}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+" } },
    { .names = " superbpe ", .expressions = { "\\p{N}+", "(?=(\\d{3})+(?!\\d))" } },
    { .names = " bailingmoe bailingmoe2 llada-moe ",
        .expressions = { "'(?i:[sdmt]|ll|ve|re)|[^\\r\\n\\p{L}\\p{N}]?+\\p{L}+|\\p{N}| "
                         "?[^\\s\\p{L}\\p{N}]++[\\r\\n]*|\\s*[\\r"
                         "\\n]|\\s+(?!\\S)|\\s+" } },
    { .names = " seed-coder ",
        .expressions = { "(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}{1}| "
                         "?[^\\s\\p{L}\\p{N}\\r\\n]+|\\s"
                         "*[\\r\\n]+|\\s+(?!\\S)|\\s+" } },
    { .names = " laguna ", .expressions = { "[^\\n]+|[\\n]+", QWEN2 } },
    { .names = " exaone-moe ",
        .expressions = { "(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{L}\\p{N}]?(?:\\p{L}\\p{M}*(?: "
                         "\\p{L}\\p{M}*)*)+|\\p{N}| ?[^"
                         "\\s\\p{L}\\p{N}]+[\\r\\n/]?|\\s*[\\r\\n]|\\s+(?!\\S)|\\s+" } },
    { .names = " youtu ",
        .expressions = { "[가-힣ㄱ-ㆎ]+|[！…“”‘’—：；，、-〿︰-﹏]+|[ㄅ-ㄯ]+|[一-龥぀-"
                         "ゟ゠-"
                         "ヿ]"
                         "+",
            "[^\\r\\n\\p{L}\\p{N}]?[\\p{Lu}\\p{Lt}\\p{Lm}\\p{Lo}\\p{M}]*[\\p{Ll}\\p{Lm}\\p{Lo}\\p{M}]+(?i:'s|'t|'"
            "re|'ve|'m|'ll|'d)?|[^\\r\\n\\p{L}\\p{N}]?[\\p{Lu}\\p{Lt}\\p{Lm}\\p{Lo}\\p{M}]+[\\p{Ll}\\p{Lm}\\p{Lo}"
            "\\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?|\\p{N}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n/]*|\\s*[\\r\\n]+|\\s+(?!\\"
            "S)|\\s+" },
        .ignore_merges = true },
    { .names = " spark2_5 ",
        .expressions = { "\\p{N}{1,3}", CJK,
            "[!\"#$%&'()*+,\\-./:;<=>?@\\[\\\\\\]^_`{|}~][A-Za-z]+|[^\r\n\\p{L}\\p{P}\\p{S}]?[\\p{L}\\p{M}]+| ?["
            "\\p{P}\\p{S}]+|[\\r\\n]|\\s+(?!\\S)|\\s+",
            "\\p{N}" } },
    { .names = " gemma4 granite-embed-multi-311m ",
        .expressions = { "[^\\n]+|[\\n]+" },
        .add_bos = true,
        .marks_spaces = true },
    { .names = " sarvam-moe ", .expressions = { "[^\\n]+|[\\n]+" }, .marks_spaces = true },
};

static bool
s_is_named (const pre_t *self, span_t name)
{
    span_t names = span_from_string (self->names);
    for (size_t at; (at = search_find (names, name)) < names.size; names = span_slice (names, at + 1, names.size))
        if (at && names.data [at - 1] == ' ' && names.data [at + name.size] == ' ')
            return true;
    return false;
}

const pre_t *
pre_find (span_t name)
{
    if (name.size == 0)
        name = SPAN ("default");
    for (size_t i = 0; i < sizeof s_pres / sizeof *s_pres && !memchr (name.data, ' ', name.size); i++)
        if (s_is_named (&s_pres [i], name))
            return &s_pres [i];
    return NULL;
}
