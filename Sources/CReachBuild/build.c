#include "CReachBuild.h"

const char *CReachBuild_revision(void) { return REACHD_REVISION; }
