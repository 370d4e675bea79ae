// The handshake between the agent and a plugin, in C so that it can be spoken before either side knows whether the
// other's Swift can be understood. Every plugin exports two functions:
//
//   const struct CReachPlugin_Handshake *reachd_plugin_handshake(void);
//   void *reachd_plugin_registration(void);   // a retained ReachProbe.RegistrationBox
//
// The agent calls the first, compares, and only then the second.
#ifndef CREACHPLUGIN_H
#define CREACHPLUGIN_H

#include <stdint.h>

// Grows by one whenever a public type of ReachKit changes its layout or meaning.
#define CREACHPLUGIN_INTERFACE 1

// "RchP" in memory order on little-endian machines.
#define CREACHPLUGIN_MAGIC 0x50686352u

struct CReachPlugin_Handshake {
  uint32_t magic;          // CREACHPLUGIN_MAGIC
  uint32_t size;           // sizeof(struct CReachPlugin_Handshake)
  uint32_t interface;      // CREACHPLUGIN_INTERFACE of the headers the plugin was built with
  uint32_t reserved;       // 0
  const char *compiler;    // the toolchain that built the plugin; never NULL
};

// The handshake of whichever module includes this header: compiled into it, with its own compiler.
static inline const struct CReachPlugin_Handshake *CReachPlugin_own_handshake(void) {
  static const struct CReachPlugin_Handshake handshake = {
    CREACHPLUGIN_MAGIC, sizeof(struct CReachPlugin_Handshake), CREACHPLUGIN_INTERFACE, 0, __clang_version__,
  };
  return &handshake;
}

#endif
