// Where a call of an example fails: says why, and ends the program.
#ifndef CHECK_H
#define CHECK_H

#include <stdio.h>
#include <stdlib.h>

#include <corecast.h>

static inline void check(corecast_status status) {
  if (status != CORECAST_OK) {
    char why[200];
    corecast_error_message(why, sizeof why);
    fprintf(stderr, "%s: %s\n", corecast_status_name(status), why);
    exit(1);
  }
}

#endif
