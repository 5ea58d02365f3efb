// NVTX as far as the backend uses it: ranges that are begun and ended in order, and seen by nobody.
#pragma once

int nvtxRangePushA(const char* name);
int nvtxRangePop();
