// How do the threads of my program follow a plan that I have made, each on its CPU, and share a table that is mostly read?
//
// Make the plan with: corecast plan --op broadcast --json >plan.json, and start it with: planned_group plan.json
// Without a plan the library makes one.

#include <inttypes.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <corecast.h>

#include "check.h"

enum { ROUNDS = 1000 };

// Prices that one member changes and all members read: with one of them the other one is wrong, too.
static struct {
  corecast_rw_lock *lock;
  int64_t in_cents;
  int64_t in_tenths_of_cents;
} prices;

// Reads both under the lock, so that they fit.
static int64_t read_price(void) {
  corecast_rw_reader reader;
  check(corecast_rw_lock_read(prices.lock, &reader));
  int64_t in_cents = prices.in_cents;
  if (prices.in_tenths_of_cents != 10 * in_cents) {
    fprintf(stderr, "half of a change was seen\n");
    exit(1);
  }
  check(corecast_rw_lock_unlock_read(prices.lock, &reader));
  return in_cents;
}

static void change_prices(int64_t in_cents) {
  check(corecast_rw_lock_write(prices.lock));
  prices.in_cents = in_cents;
  prices.in_tenths_of_cents = 10 * in_cents;
  check(corecast_rw_lock_unlock_write(prices.lock));
}

static void *member(void *passed) {
  corecast_member *me = (corecast_member *)passed;
  // From here on this thread runs on the CPU of the plan.
  check(corecast_member_barrier(me));
  for (int64_t round = 1; round <= ROUNDS; round++) {
    if (corecast_member_rank(me) == 0) {
      change_prices(round);
    } else {
      (void)read_price();
    }
  }
  // The broadcast goes along the tree of the plan.
  int64_t last = corecast_member_rank(me) == 0 ? read_price() : 0;
  check(corecast_member_broadcast(me, 0, &last, sizeof last));
  if (last != ROUNDS || read_price() != last) {
    fprintf(stderr, "the last price is %" PRId64 "\n", last);
    exit(1);
  }
  corecast_member_leave(me);
  return NULL;
}

int main(int argc, char **argv) {
  corecast_group_config config;
  memset(&config, 0, sizeof config);
  config.size = sizeof config;
  config.pin = 1;
  config.plan = argc > 1 ? argv[1] : NULL;
  corecast_group *group;
  check(corecast_group_create(&config, &group));
  check(corecast_rw_lock_create(CORECAST_RW_LOCK_ALGORITHM_SPREAD, &prices.lock));

  uint32_t members = corecast_group_members(group);
  pthread_t *threads = (pthread_t *)calloc(members, sizeof *threads);
  for (uint32_t rank = 0; rank < members; rank++) {
    corecast_member *me;
    check(corecast_group_join(group, rank, &me));
    if (threads == NULL || pthread_create(&threads[rank], NULL, member, me) != 0) {
      fprintf(stderr, "no thread\n");
      return 1;
    }
  }
  for (uint32_t rank = 0; rank < members; rank++) {
    pthread_join(threads[rank], NULL);
  }
  free(threads);
  corecast_rw_lock_destroy(prices.lock);
  corecast_group_destroy(group);
  printf("%" PRIu32 " members, each on its CPU, saw %d prices change\n", members, ROUNDS);
  return 0;
}
