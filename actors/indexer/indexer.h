//  indexer - the fleet's index, for whoever asks
//
//  Follows the kv stream of every worker and block manager; serves snapshots of it to late joiners and, to anybody, match_prefix
//  and explain_prefix, routing actors in other languages included.  Keeps nothing of its own: what it knows it can learn again.

#ifndef ACTORS_INDEXER_INDEXER_H
#define ACTORS_INDEXER_INDEXER_H

#include "actors/indexer/indexer_options.h"
#include "kv/catalog/catalog.h"
#include "runtime/actor.h"

//  Its options are an indexer_options_t.
extern const actor_class_t indexer_class;

//  What it believes of everybody's blocks.  Borrowed, for whoever checks it.
const catalog_t *indexer_catalog (const actor_t *indexer);

#endif
