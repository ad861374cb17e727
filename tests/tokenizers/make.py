#!/usr/bin/env python3
"""Makes tests/data/tokenizers/small.tar.xz: small tokenizers of every kind, and what Hugging Face's tokenizers make of texts.

    pip install tokenizers==0.23.3 && tests/tokenizers/make.py

Run it only to change the archive; the tests read what it made.
"""

import io
import json
import pathlib
import struct
import sys
import tarfile

from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers

ROOT = pathlib.Path(__file__).resolve().parents[2]
CONTRACTION = "(?i:'s|'t|'re|'ve|'m|'ll|'d)"
BLANKS = r"|\s*[\r\n]+|\s+(?!\S)|\s+"
LLAMA3 = CONTRACTION + r"|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*" + BLANKS
QWEN = LLAMA3.replace("{1,3}", "")
UPPER, LOWER = r"[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]", r"[\p{Ll}\p{Lm}\p{Lo}\p{M}]"
LEAD = r"[^\r\n\p{L}\p{N}]?"
O200K = (
    f"{LEAD}{UPPER}*{LOWER}+{CONTRACTION}?|{LEAD}{UPPER}+{LOWER}*{CONTRACTION}?"
    r"|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*" + BLANKS
)
HAN = r"&&[^\p{Han}]]"
KIMI = (
    r"[\p{Han}]+|"
    f"{LEAD}{UPPER[:-1]}{HAN}*{LOWER[:-1]}{HAN}+{CONTRACTION}?|{LEAD}{UPPER[:-1]}{HAN}+{LOWER[:-1]}{HAN}*{CONTRACTION}?"
    r"|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*" + BLANKS
)
DEEPSEEK = [
    "\\p{N}{1,3}",
    "[一-龥぀-ゟ゠-ヿ]+",
    "[!\"#$%&'()*+,\\-./:;<=>?@\\[\\\\\\]^_`{|}~][A-Za-z]+|[^\r\n\\p{L}\\p{P}\\p{S}]?[\\p{L}\\p{M}]+| ?[\\p{P}\\p{S}]+[\r\n]*|"
    "\\s*[\r\n]+|\\s+(?!\\S)|\\s+",
]

TEXTS = [
    "",
    " ",
    "  ",
    "\n",
    "\t\n ",
    "Hello world",
    " Hello  world ",
    "Hello, y'all! How are you? I'm fine; they'RE late, he'll see.",
    "3 33 333 3333 33333 1,234.56 x86_64 v1.2.3",
    "def f(x):\n    return x ** 2  # square\n\n\nprint(f(3))\n",
    "a" * 200,
    "ab" * 60,
    "=" * 70,
    "naïve café résumé Ünïcödé ÀÉÎÕÜ",
    "e\u0301a\u0308o\u0302\u0301 \u1112\u1161\u11ab 각",
    "中文测试，東京タワー、カタカナひらがな。한국어",
    "нещо на Български Привет МИР",
    "العربية ١٢٣ עברית",
    "हिन्दी में नमस्ते ภาษาไทย កាន់តែ",
    "🚀 (normal) 😶‍🌫️ 👩‍👩‍👧‍👦 🇩🇪 ✅",
    "ﬁ ½ ² Ⅻ ℌ ｆｕｌｌ ＷＩＤＴＨ \u212b",
    "\u00a0nbsp\u2003em\u2028line\u3000wide\u200bzero\ufeffbom",
    "\x00\x01\x7f\x85 control \x1b[0m",
    "<s>begin</s> <s> <unk> mid</s>end",
    "x<tool> y <tool>  z<tool>",
    "one <mask> two<mask>three  <mask>",
    "word words sword word, word.",
    "<|im_start|>user\nHi<|im_end|>\n<|im_start|>assistant\n",
    "<|im_start|><|im_start|> <|im_end|>x<|im_end",
    "caf\u00e9<norm> CAFE <NORM>",
    "▁under▁score ▁ ▁▁ _",
    "tab\tand\rreturn\r\nlines\n\n\n  indented\n \n",
    "https://example.org/a/b?c=d&e=f#g",
    '{"name": "get_weather", "arguments": {"city": "Köln", "n": [1, 2, 3]}}',
    "SELECT * FROM t WHERE a<>b AND c>=1;",
    "HTTPServer getHTTPResponseCode XMLHttpRequest iPhone McDonald's",
    "don't DON'T 'tis 'Twas rock'n'roll it'ſ",
    "İstanbul ſtraße ẞ Ǆ ǅ ǆ",
    "…“quotes” ‘single’ — dash – en • bullet",
    "aaa   bbb    ccc\n\n\n\nddd     ",
    "-12.5e-3 +7 0x1F 1_000",
    "\u0301\u0301start",
    "!!!???...,,,",
]


def byte_level(**options):
    return pre_tokenizers.ByteLevel(add_prefix_space=options.get("prefix", False), use_regex=options.get("regex", False))


def splits(*expressions, **options):
    return pre_tokenizers.Sequence(
        [pre_tokenizers.Split(Regex(expression), "isolated") for expression in expressions] + [byte_level(**options)]
    )


def bpe(normalizer, pre_tokenizer, decoder, size=600, **options):
    """A trained BPE tokenizer; options of the model that training does not know are set afterwards."""
    later = {key: options.pop(key) for key in ("ignore_merges", "byte_fallback", "fuse_unk") if key in options}
    tokenizer = Tokenizer(models.BPE(**options))
    if normalizer:
        tokenizer.normalizer = normalizer
    if pre_tokenizer:
        tokenizer.pre_tokenizer = pre_tokenizer
    if decoder:
        tokenizer.decoder = decoder
    alphabet = pre_tokenizers.ByteLevel.alphabet() if isinstance(decoder, decoders.ByteLevel) else []
    special = [options["unk_token"]] if "unk_token" in options else []
    special += [f"<0x{byte:02X}>" for byte in range(256)] if later.get("byte_fallback") else []
    affixes = {key: options[key] for key in ("continuing_subword_prefix", "end_of_word_suffix") if key in options}
    trainer = trainers.BpeTrainer(
        **affixes,
        vocab_size=size + len(special),
        initial_alphabet=alphabet,
        special_tokens=special,
        show_progress=False,
        limit_alphabet=300,
    )
    tokenizer.train_from_iterator(TEXTS * 3 + CORPUS, trainer)
    form = json.loads(tokenizer.to_str())
    form["model"].update(later)
    form["added_tokens"] = [token for token in form["added_tokens"] if not token["content"].startswith("<0x")]
    return Tokenizer.from_str(json.dumps(form))


def unigram(normalizer, pre_tokenizer, decoder, **later):
    tokenizer = Tokenizer(models.Unigram())
    if normalizer:
        tokenizer.normalizer = normalizer
    tokenizer.pre_tokenizer = pre_tokenizer
    tokenizer.decoder = decoder
    special = ["<unk>"] + [f"<0x{byte:02X}>" for byte in range(256)] if later.get("byte_fallback") else ["<unk>"]
    tokenizer.train_from_iterator(
        TEXTS * 3 + CORPUS,
        trainers.UnigramTrainer(vocab_size=700, special_tokens=special, unk_token="<unk>", show_progress=False),
    )
    form = json.loads(tokenizer.to_str())
    form["model"].update(later)
    form["added_tokens"] = [token for token in form["added_tokens"] if not token["content"].startswith("<0x")]
    return Tokenizer.from_str(json.dumps(form))


def wordpiece(normalizer, pre_tokenizer, **options):
    tokenizer = Tokenizer(models.WordPiece(unk_token="[UNK]", **options))
    tokenizer.normalizer = normalizer
    tokenizer.pre_tokenizer = pre_tokenizer
    tokenizer.decoder = decoders.WordPiece()
    special = ["[UNK]", "[CLS]", "[SEP]"]
    trainer = trainers.WordPieceTrainer(vocab_size=700, special_tokens=special, show_progress=False, limit_alphabet=200)
    tokenizer.train_from_iterator(TEXTS * 3 + CORPUS, trainer)
    ids = [(name, tokenizer.token_to_id(name)) for name in ("[SEP]", "[CLS]")]
    return with_processor(tokenizer, processors.BertProcessing(*ids))


def word_level(normalizer, pre_tokenizer):
    tokenizer = Tokenizer(models.WordLevel(unk_token="[UNK]"))
    if normalizer:
        tokenizer.normalizer = normalizer
    tokenizer.pre_tokenizer = pre_tokenizer
    trainer = trainers.WordLevelTrainer(vocab_size=700, special_tokens=["[UNK]"], show_progress=False)
    tokenizer.train_from_iterator(TEXTS * 3 + CORPUS, trainer)
    return tokenizer


def added(tokenizer, *tokens, special=True):
    (tokenizer.add_special_tokens if special else tokenizer.add_tokens)(list(tokens))
    return tokenizer


def chat(tokenizer):
    added(tokenizer, "<|im_start|>", "<|im_end|>", "<s>", "</s>")
    return added(tokenizer, AddedToken("<tool>", normalized=False), special=False)


def with_processor(tokenizer, processor):
    tokenizer.post_processor = processor
    return tokenizer


def template(tokenizer):
    ids = [("<s>", tokenizer.token_to_id("<s>")), ("</s>", tokenizer.token_to_id("</s>"))]
    return processors.TemplateProcessing(single="<s> $A </s>", special_tokens=ids)


def everything():
    """Yields (name, tokenizer)."""
    level = decoders.ByteLevel()
    yield "gpt2", chat(bpe(None, byte_level(regex=True), level))
    roberta = added(
        bpe(None, byte_level(regex=True, prefix=True), level), "<s>", "</s>", AddedToken("<mask>", lstrip=True, special=True)
    )
    yield "roberta", with_processor(
        roberta, processors.RobertaProcessing(("</s>", roberta.token_to_id("</s>")), ("<s>", roberta.token_to_id("<s>")))
    )
    yield "qwen", chat(bpe(normalizers.NFC(), splits(QWEN), level))
    llama = chat(bpe(None, splits(LLAMA3), level, ignore_merges=True))
    yield "llama3", with_processor(llama, processors.Sequence([processors.ByteLevel(), template(llama)]))
    yield "o200k", chat(bpe(None, splits(O200K), level))
    yield "kimi", chat(bpe(None, splits(KIMI), level))
    deepseek = chat(bpe(normalizers.Sequence([]), splits(*DEEPSEEK), level))
    yield "deepseek", added(deepseek, AddedToken("<norm>", normalized=True), special=False)
    yield "starcoder", chat(bpe(None, pre_tokenizers.Sequence([pre_tokenizers.Digits(True), byte_level(regex=True)]), level))
    falcon = [
        pre_tokenizers.Punctuation("contiguous"),
        byte_level(regex=True),
        pre_tokenizers.Digits(False),
        pre_tokenizers.Split(Regex("[0-9][0-9][0-9]"), "isolated"),
    ]
    yield "falcon", chat(bpe(None, pre_tokenizers.Sequence(falcon), level))

    spaces = normalizers.Replace(" ", "▁")
    marked = decoders.Sequence(
        [decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse(), decoders.Strip(" ", 1, 0)]
    )
    llama2 = chat(
        bpe(
            normalizers.Sequence([normalizers.Prepend("▁"), spaces]),
            None,
            marked,
            unk_token="<unk>",
            byte_fallback=True,
            fuse_unk=True,
        )
    )
    yield "llama2", with_processor(llama2, template(llama2))
    gemma = decoders.Sequence([decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse()])
    yield "gemma", chat(
        bpe(
            spaces,
            pre_tokenizers.Split(" ", "merged_with_previous"),
            gemma,
            unk_token="<unk>",
            byte_fallback=True,
            fuse_unk=True,
        )
    )
    for scheme in ("always", "first", "never"):
        metaspace = pre_tokenizers.Metaspace(prepend_scheme=scheme)
        yield f"metaspace_{scheme}", chat(bpe(None, metaspace, decoders.Metaspace(prepend_scheme=scheme), unk_token="<unk>"))
    t5 = unigram(
        normalizers.Sequence([normalizers.NFKC(), normalizers.Replace(Regex(" {2,}"), " "), normalizers.Strip()]),
        pre_tokenizers.Metaspace(),
        decoders.Metaspace(),
    )
    yield "unigram", chat(t5)
    yield "unigram_bytes", chat(unigram(None, pre_tokenizers.Metaspace(prepend_scheme="first"), gemma, byte_fallback=True))

    yield "bert", wordpiece(normalizers.BertNormalizer(), pre_tokenizers.BertPreTokenizer())
    cased = normalizers.BertNormalizer(lowercase=False, clean_text=False)
    yield "bert_cased", wordpiece(cased, pre_tokenizers.BertPreTokenizer(), max_input_chars_per_word=8)

    behaviours = ("removed", "isolated", "merged_with_previous", "merged_with_next", "contiguous")
    for behaviour in behaviours:
        for invert in (False, True):
            steps = [
                pre_tokenizers.Split(Regex(r"\s+|[.,!?]"), behaviour, invert),
                pre_tokenizers.Split("e", behaviour, invert),
            ]
            yield f"split_{behaviour}_{int(invert)}", bpe(
                None, pre_tokenizers.Sequence(steps), decoders.Fuse(), size=400, unk_token="<unk>"
            )
    for name, step in {
        "whitespace": pre_tokenizers.Whitespace(),
        "blanks": pre_tokenizers.WhitespaceSplit(),
        "punctuation": pre_tokenizers.Punctuation("merged_with_previous"),
        "digits": pre_tokenizers.Digits(False),
        "delimiter": pre_tokenizers.CharDelimiterSplit("a"),
        "empty": pre_tokenizers.Split(Regex("(?=[A-Z])"), "isolated"),
        "repeat": pre_tokenizers.Split(Regex(r"\p{N}{1,3}+|\h{2}|[^\W\d]+|\S"), "isolated"),
    }.items():
        yield f"cut_{name}", bpe(None, step, decoders.Fuse(), size=400, unk_token="<unk>")
    for name, step in {
        "nfd": normalizers.NFD(),
        "nfkd": normalizers.NFKD(),
        "lower": normalizers.Lowercase(),
        "accents": normalizers.Sequence([normalizers.NFD(), normalizers.StripAccents()]),
        "strip": normalizers.Strip(right=False),
        "regex": normalizers.Replace(Regex(r"\s+|l"), "_"),
        "nmt": normalizers.Nmt(),
    }.items():
        tokenizer = bpe(step, byte_level(regex=True), level, size=400)
        yield f"norm_{name}", added(
            tokenizer, AddedToken("<norm>", normalized=True), AddedToken("CAFE", normalized=True), special=False
        )
    words = pre_tokenizers.Split(Regex("\u0120[^\u0120]*"), "isolated")
    yield "norm_bytes", bpe(normalizers.ByteLevel(), words, level, size=400)
    flags = bpe(None, splits(LLAMA3), level)
    added(
        flags,
        AddedToken("<tool>", lstrip=True, normalized=False),
        AddedToken("<mask>", rstrip=True, lstrip=True, normalized=False),
        AddedToken("word", single_word=True, normalized=False),
        AddedToken("<s>", rstrip=True, normalized=False),
        AddedToken("<|im_start|>", normalized=False),
        AddedToken("<|im_start|><|im_start|>", normalized=False),
        special=False,
    )
    yield "flags", flags


def rows_of(tokenizer, decoded=True, without=()):
    for number, text in enumerate(TEXTS):
        if any(word in text for word in without):
            continue
        ids = tokenizer.encode(text, add_special_tokens=False).ids
        row = {"id": str(number), "ids": ids, "with_special": tokenizer.encode(text).ids}
        yield {**row, "decoded": tokenizer.decode(ids, skip_special_tokens=False)} if decoded else row


def packed(value):
    """A value of a GGUF file, its type before it."""
    if isinstance(value, bool):
        return struct.pack("<IB", 7, value)
    if isinstance(value, int):
        return struct.pack("<II", 4, value)
    if isinstance(value, str):
        return struct.pack("<IQ", 8, len(value.encode())) + value.encode()
    kind = {str: 8, float: 6, int: 5}[type(value[0])]
    parts = [packed(part)[4:] if kind == 8 else struct.pack("<f" if kind == 6 else "<i", part) for part in value]
    return struct.pack("<IIQ", 9, kind, len(value)) + b"".join(parts)


def gguf(**fields):
    rows = [packed("tokenizer.ggml." + key)[4:] + packed(value) for key, value in fields.items()]
    return b"GGUF" + struct.pack("<IQQ", 3, 0, len(rows)) + b"".join(rows)


def foreign():
    """Yields (name, GGUF file, tokenizer that reads texts as that should, words of texts that the two read differently).

    A GGUF file finds tokens such as <|im_end|> wherever they stand, and cannot tell a word's mark from the character.
    """
    spaces = [normalizers.Replace(Regex(r"\A +| +\z"), ""), normalizers.Replace(Regex(" {2,}"), " ")]
    form = json.loads(unigram(normalizers.Sequence(spaces), pre_tokenizers.Metaspace(split=False), decoders.Metaspace()).to_str())
    rounded = [[token, struct.unpack("f", struct.pack("f", score))[0]] for token, score in form["model"]["vocab"]]
    form["model"]["vocab"] = rounded + [["</s>", 0.0]]
    t5 = added(Tokenizer.from_str(json.dumps(form)), "</s>")
    end = t5.token_to_id("</s>")
    with_processor(t5, processors.TemplateProcessing(single="$A </s>", special_tokens=[("</s>", end)]))
    tokens, scores = zip(*form["model"]["vocab"])
    kinds = [2 if token == "<unk>" else 3 if token == "</s>" else 1 for token in tokens]
    facts = {"unknown_token_id": tokens.index("<unk>"), "eos_token_id": end, "remove_extra_whitespaces": True}
    rows = {"tokens": list(tokens), "scores": list(scores), "token_type": kinds}
    yield "gguf_t5", gguf(model="t5", **rows, **facts), t5, ("</s>", "<|im_end", "▁")

    #  All marks go, and a word may be of any length; of a Korean syllable llama.cpp keeps the first letter alone.
    unmarked = [normalizers.NFD(), normalizers.Replace(Regex(r"\p{M}"), ""), normalizers.Lowercase()]
    plain = [normalizers.BertNormalizer(lowercase=False), *unmarked]
    form = json.loads(wordpiece(normalizers.Sequence(plain), pre_tokenizers.BertPreTokenizer()).to_str())
    form["model"]["max_input_chars_per_word"] = 10**6
    bert = Tokenizer.from_str(json.dumps(form))
    words = sorted(bert.get_vocab(), key=bert.get_vocab().get)
    marked = [word if word[0] == "[" and len(word) > 1 else word[2:] if word[:2] == "##" else "▁" + word for word in words]
    kinds = [3 if word[0] == "[" and len(word) > 1 else 1 for word in words]
    facts = {"unknown_token_id": 0, "bos_token_id": 1, "seperator_token_id": 2}
    yield "gguf_bert", gguf(model="bert", tokens=marked, token_type=kinds, **facts), bert, ("▁", "한", "각")


def add(archive, name, text):
    data = text if isinstance(text, bytes) else text.encode()
    info = tarfile.TarInfo(name)
    info.size = len(data)
    info.mode = 0o644
    archive.addfile(info, io.BytesIO(data))


def lines(rows):
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)


def main():
    out = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "tests/data/tokenizers/small.tar.xz"
    with tarfile.open(out, "w:xz", preset=9) as archive:
        add(archive, "inputs.jsonl", lines({"id": str(number), "text": text} for number, text in enumerate(TEXTS)))
        for name, tokenizer in everything():
            add(archive, f"{name}.tokenizer.json", tokenizer.to_str())
            add(archive, f"{name}.jsonl", lines(rows_of(tokenizer)))
            print(name)
        for name, file, tokenizer, without in foreign():
            add(archive, f"{name}.gguf", file)
            add(archive, f"{name}.jsonl", lines(rows_of(tokenizer, False, without)))
            print(name)


CORPUS = (ROOT / "docs/architecture.md").read_text().split("\n") if (ROOT / "docs/architecture.md").exists() else []

if __name__ == "__main__":
    main()
