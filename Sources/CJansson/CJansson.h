#ifndef REACHD_CJANSSON_H
#define REACHD_CJANSSON_H

#include <jansson.h>

#endif
