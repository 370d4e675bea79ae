// What a build knows of itself.
#ifndef CREACHBUILD_H
#define CREACHBUILD_H

// The commit it was built from, or "unknown".
const char *CReachBuild_revision(void);

#endif
