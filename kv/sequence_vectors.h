//  Made by kv/sequence_vectors.py, which computes them without the code under test.  Do not edit.

#ifndef KV_SEQUENCE_VECTORS_H
#define KV_SEQUENCE_VECTORS_H

static const char s_plain_key [] = "73e1bc61ee7c5ef26c0c6c2e4fc1a069";
static const char s_plain_id [] = "ab7b9ffc082939b9";
static const char *const s_plain_hashes [] = {
    "21afb0bf8815df1c859092ff302aa7df",
    "34dfcbd9745ccbf7b916eeabb1bcf681",
    "dfc8a842e3bdc117986ff859f3cc3f0d",
    "a793b08324b0cf2c0d89112b0d299a9a",
};

static const char s_lora_key [] = "1f258df008da4e2d278a367888a9be0c";
static const char s_lora_id [] = "e2ff0d01c60e06b8";
static const char *const s_lora_hashes [] = {
    "a24ddb0e73066548830bba62e4dd77f3",
    "9bbad3f28356767b09740a1235e02ced",
    "489dcc15ead243161c28d1859bdf6d25",
    "10962bf48d2841581e8dcfafc88cc8db",
};

static const char s_salt_key [] = "4a5eac0b66d4c3d9c9377a5a3fbeeacd";
static const char s_salt_id [] = "16dbfba177b47bb5";
static const char *const s_salt_hashes [] = {
    "7122095d843acbdaf09565ffe2b0cc19",
    "b56a8bcf09a1d953de53b68c1c7c2110",
    "6bad630cdc7529864f74203a9e20b4a2",
    "b74f13793b44dcffd907259b3ab78ea7",
};

static const char s_one_token_blocks_key [] = "f78b5ad1a2e34c491748c8e79ad0b7b1";
static const char s_one_token_blocks_id [] = "15ee5381d2930ee6";
static const char *const s_one_token_blocks_hashes [] = {
    "d9a83d76d253ab263d9e90b691db15bd",
    "c30703054769594427a8bd1db1a521ba",
    "a37812a0c32cc329b33eaba6ce56c828",
    "d1bca7658e55829ae0679c37f0190ea1",
    "6142aaa6c2fa0ad6a7eff1cf483b983d",
};

static const char s_items_key [] = "bc75ea9f1670612ce416aded501db5c6";
static const char s_items_id [] = "2f571811b21af104";
static const char *const s_items_hashes [] = {
    "db97c80806b46d8c87c841127d71907c",
    "9714aa10ec7c9314a51d0ed8cb8253ee",
    "aa335eda61e0eea11175bf7145b75d38",
    "a5c69014b8676620a124fd7fd3b40657",
    "cb20ff49f6381e5290bdcb9cc3f45da5",
};

#endif
