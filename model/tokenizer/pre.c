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
//  llama.cpp knows the case of letters of ASCII only, and marks are signs to it. Elsewhere all letters are one.
#define CONTRACTION "(?i:'s|'t|'re|'ve|'m|'ll|'d)"
#define NO_LOW "[\\p{L}&&[^a-z]]"
#define NO_UP "[\\p{L}&&[^A-Z]]"
#define BLANKS "|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+"
#define SIGNS "| ?[^\\s\\p{L}\\p{N}]+[\\r\\n/]*" BLANKS
#define O200K                                                                                             \
    "[^\\r\\n\\p{L}\\p{N}]?" NO_LOW "*" NO_UP "+" CONTRACTION "?|[^\\r\\n\\p{L}\\p{N}]?" NO_LOW "+" NO_UP \
    "*" CONTRACTION "?|\\p{N}{1,3}" SIGNS
#define MARKED "[^\\r\\n\\p{L}\\p{N}]?[\\p{L}\\p{M}]+" CONTRACTION "?"
#define HAN                                                                                                   \
    "\\x{4e00}-\\x{9fff}\\x{3400}-\\x{4dbf}\\x{20000}-\\x{2a6df}\\x{2a700}-\\x{2ebef}\\x{f900}-\\x{faff}\\x{" \
    "2f800}-\\x{2fa1f}"
#define THREES "\\P{N}*\\p{N}{1,3}(?=(?:\\p{N}{3})*(?!\\p{N}))"
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
            "\\s?[A-Za-z\\x{b5}\\x{c0}-\\x{d6}\\x{d8}-\\x{f6}\\x{f8}-\\x{1ba}\\x{1bc}-\\x{1bf}\\x{1c4}-\\x{293}\\x{295}"
            "-\\x{2af}\\x{370}-\\x{373}\\x{376}\\x{377}\\x{37b}-\\x{37d}\\x{37f}\\x{386}\\x{388}-\\x{38a}\\x{38c}\\x{"
            "38e}-\\x{3a1}\\x{3a3}-\\x{3f5}\\x{3f7}-\\x{481}\\x{48a}-\\x{52f}\\x{531}-\\x{556}\\x{10a0}-\\x{10c5}\\x{"
            "13a0}-\\x{13f5}\\x{13f8}-\\x{13fd}\\x{1c90}-\\x{1cba}\\x{1cbd}-\\x{1cbf}\\x{1d00}-\\x{1d2b}\\x{1d6b}-\\x{"
            "1d77}\\x{1d79}-\\x{1d9a}\\x{1e00}-\\x{1f15}\\x{1f18}-\\x{1f1d}\\x{1f20}-\\x{1f45}\\x{1f48}-\\x{1f4d}\\x{"
            "1f50}-\\x{1f57}\\x{1f59}\\x{1f5b}\\x{1f5d}\\x{1f5f}-\\x{1f7d}\\x{1f80}-\\x{1fb4}\\x{1fb6}-\\x{1fbc}\\x{"
            "1fbe}\\x{1fc2}-\\x{1fc4}\\x{1fc6}-\\x{1fcc}\\x{1fd0}-\\x{1fd3}\\x{1fd6}-\\x{1fdb}\\x{1fe0}-\\x{1fec}\\x{"
            "1ff2}-\\x{1ff4}\\x{1ff6}-\\x{1ffc}\\x{2102}\\x{2107}\\x{210a}-\\x{2113}\\x{2115}\\x{2119}-\\x{211d}\\x{"
            "2124}\\x{2126}\\x{2128}\\x{212a}-\\x{212d}\\x{212f}-\\x{2134}\\x{2139}\\x{213c}-\\x{213f}\\x{2145}-\\x{"
            "2149}\\x{214e}\\x{2183}\\x{2184}\\x{2c00}-\\x{2c7b}\\x{2c7e}-\\x{2ce4}\\x{2ceb}-\\x{2cee}\\x{2cf2}\\x{"
            "2cf3}\\x{a640}-\\x{a66d}\\x{a680}-\\x{a69b}\\x{a722}-\\x{a76f}\\x{a771}-\\x{a787}\\x{a78b}-\\x{a78e}\\x{"
            "ab70}-\\x{abbf}\\x{fb00}-\\x{fb06}\\x{fb13}-\\x{fb17}\\x{ff21}-\\x{ff3a}\\x{ff41}-\\x{ff5a}\\x{10400}-\\x{"
            "1044f}\\x{104b0}-\\x{104d3}\\x{104d8}-\\x{104fb}\\x{10c80}-\\x{10cb2}\\x{10cc0}-\\x{10cf2}\\x{118a0}-\\x{"
            "118df}\\x{1e900}-\\x{1e943}]+",
            "\\s?[!-/:-~\\x{ff01}-\\x{ff0f}\\x{ff1a}-\\x{ff5e}\\x{2018}-\\x{201f}\\x{3001}\\x{3002}]+", "\\s+$",
            "[\\x{4e00}-\\x{9fa5}\\x{800}-\\x{4e00}\\x{ac00}-\\x{d7ff}&&\\S]+", "\\p{N}+" } },
    { .names = " deepseek-coder ",
        .expressions = { "[\r\n]", "\\s?\\p{L}+", "\\s?\\p{P}+", "[一-龥ࠀ-一가-퟿&&\\S]+", "\\p{N}" } },
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
        .expressions = { "[^\\r\\n\\p{L}\\p{N}]?" NO_LOW "*" NO_UP "+|[^\\r\\n\\p{L}\\p{N}]?" NO_LOW "+" NO_UP
                         "*|\\p{N}" SIGNS },
        .ignore_merges = true,
        .add_bos = true },
    { .names = " chameleon ",
        .expressions = { "<sentinel:[0-9]+>", "(IMGIMG)((A|B|C|D|E|F|G|H|I){1,4})Z", "([\\t\\n]|    |  )", "\\p{N}",
            "[\\p{P}!-/:-@\\[-`{-~]", GPT2 },
        .add_bos = true },
    { .names = " gpt-4o llama4 kanana2 talkie minimax-m2 ", .expressions = { O200K } },
    { .names = " granite-embed-multi-97m ",
        .expressions = { "[^\\r\\n\\p{L}\\p{N}]?[\\p{L}\\p{M}&&[^a-z]]*[\\p{L}\\p{M}&&[^A-Z]]+" CONTRACTION
                         "?|[^\\r\\n\\p{L}\\p{N}]?[\\p{L}\\p{M}&&[^a-z]]+[\\p{L}\\p{M}&&[^A-Z]]*" CONTRACTION
                         "?|\\p{N}{1,3}" SIGNS },
        .ignore_merges = true },
    { .names = " tiny_aya cohere2moe ", .expressions = { THREES, MARKED "|\\p{N}{1,3}" SIGNS } },
    { .names = " afmoe ",
        .expressions = { THREES,
            "[一-鿿㐀-䶿\\x{f900}-\\x{faff}぀-ゟ゠-ヿ･-ﾟ⼀-⿟เ-๿຀-໿ក-៿က-႟ꩠ-ꩿꧠ-"
            "꧿가-"
            "힯ᄀ-"
            "ᇿ]"
            "+",
            "[!\"#$%&'()*+,\\-./:;<=>?@\\[\\\\\\]^_`{|}~][A-Za-z]+|[^\\r\\n\\p{L}\\p{P}\\p{S}]?[\\p{L}\\p{M}]+| ?"
            "[\\p{P}\\p{S}]+[\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+" } },
    { .names = " kimi-k2 ",
        .expressions = { "[" HAN "]+|[^\\r\\n\\p{L}\\p{N}]?[\\p{L}&&[^" HAN "]]+" CONTRACTION
                         "?|\\p{N}{1,3}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*" BLANKS } },
    { .names = " superbpe ", .expressions = { "\\p{N}+", "(?=([0-9]{3})+(?![0-9]))" } },
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
            MARKED "|\\p{N}" SIGNS },
        .ignore_merges = true },
    { .names = " spark2_5 ",
        .expressions = { "\\p{N}{1,3}", CJK,
            "[!\"#$%&'()*+,\\-./:;<=>?@\\[\\\\\\]^_`{|}~][A-Za-z]+|[^\r\n\\p{L}\\p{P}\\p{S}]?[\\p{L}\\p{M}]+| ?["
            "\\p{P}\\p{S}]+|[\\r\\n]|\\s+(?!\\S)|\\s+",
            "\\p{N}" } },
    { .names = " gemma4 granite-embed-multi-311m ",
        .expressions = { "[^\\n]+|[\\n]+" },
        .always_bos = true,
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
