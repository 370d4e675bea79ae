#ifndef REACHD_CYAML_H
#define REACHD_CYAML_H

#include <yaml.h>

#endif
