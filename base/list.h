//  list - an intrusive doubly linked list
//
//  The link sits inside the element; the list allocates nothing and owns nothing.  LIST_ENTRY leads from link to element.

#ifndef BASE_LIST_H
#define BASE_LIST_H

#include <stdbool.h>
#include <stddef.h>

typedef struct list_link {
    struct list_link *next;    //  NULL while in no list
    struct list_link *prev;    //  NULL while in no list
} list_link_t;

typedef struct {
    list_link_t head;    //  A ring: head.next is the first, head.prev the last
    size_t count;        //  Elements in the list
} list_t;

#define LIST_ENTRY(link, type, member) ((type *)((char *)(link)-offsetof (type, member)))

void list_init (list_t *self);

bool list_link_is_linked (const list_link_t *link);

//  The link must be in no list.
void list_append (list_t *self, list_link_t *link);

//  The link must be in this list.
void list_remove (list_t *self, list_link_t *link);

//  NULL where there is none.
list_link_t *list_first (const list_t *self);
list_link_t *list_next (const list_t *self, const list_link_t *link);

//  Removes and returns the first; NULL where there is none.
list_link_t *list_take_first (list_t *self);

#endif
