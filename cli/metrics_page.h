//  metrics_page - the page of the manual that lists the metrics

#ifndef CLI_METRICS_PAGE_H
#define CLI_METRICS_PAGE_H

#include "base/buffer.h"

//  Appends it, in Markdown: a table for what every actor keeps, and one for each class of actors.
void metrics_page_print (buffer_t *out);

#endif
