#include "CReachPlugin.h"
