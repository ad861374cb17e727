#include "base/list.h"

#include "base/bug.h"

void
list_init (list_t *self)
{
    self->head.next = &self->head;
    self->head.prev = &self->head;
    self->count = 0;
}

bool
list_link_is_linked (const list_link_t *link)
{
    return link->next != NULL;
}

void
list_append (list_t *self, list_link_t *link)
{
    BUG_ON (list_link_is_linked (link));
    link->prev = self->head.prev;
    link->next = &self->head;
    self->head.prev->next = link;
    self->head.prev = link;
    self->count++;
}

void
list_remove (list_t *self, list_link_t *link)
{
    BUG_ON (!list_link_is_linked (link) || self->count == 0);
    link->prev->next = link->next;
    link->next->prev = link->prev;
    link->next = NULL;
    link->prev = NULL;
    self->count--;
}

list_link_t *
list_first (const list_t *self)
{
    return self->head.next == &self->head ? NULL : self->head.next;
}

list_link_t *
list_next (const list_t *self, const list_link_t *link)
{
    return link->next == &self->head ? NULL : link->next;
}

list_link_t *
list_take_first (list_t *self)
{
    list_link_t *link = list_first (self);
    if (link)
        list_remove (self, link);
    return link;
}
