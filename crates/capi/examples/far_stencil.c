// How does a program that computes in rounds use several machines? Heat in a rod, which all members share.
//
// Started as far_sum is. After a loss the others name it and go on with the state of the first of them.
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <corecast.h>

#include "check.h"

enum { PLACES = 600, ROUNDS = 2000 };

static double rod[PLACES], next[PLACES];

// Computes until the rod is at rest, or a call fails.
static corecast_status compute(corecast_member *me) {
  int rank = (int)corecast_member_rank(me), members = (int)corecast_member_members(me);
  int first = PLACES * rank / members, end = PLACES * (rank + 1) / members;
  double change = 1;
  int round = 0;
  for (; round < ROUNDS && change > 1e-2; round++) {
    memset(next, 0, sizeof next);
    change = 0;
    for (int place = first > 1 ? first : 1; place < end && place < PLACES - 1; place++) {
      next[place] = (rod[place - 1] + rod[place] + rod[place + 1]) / 3;
      double difference = next[place] - rod[place];
      difference = difference < 0 ? -difference : difference;
      change = difference > change ? difference : change;
    }
    if (rank == 0) {
      next[0] = rod[0];
    }
    // Each place is 0 at all members but one, so the sum is exact, in any order.
    corecast_status status = corecast_member_allreduce(me, next, PLACES, CORECAST_NUMBER_DOUBLE, CORECAST_OP_SUM);
    if (status == CORECAST_OK) {
      memcpy(rod, next, sizeof rod);
      status = corecast_member_allreduce(me, &change, 1, CORECAST_NUMBER_DOUBLE, CORECAST_OP_MAX);
    }
    if (status != CORECAST_OK) {
      return status;
    }
  }
  if (rank == 0) {
    printf("at rest after %d rounds, %.3f beside the hot end\n", round, rod[1]);
  }
  return corecast_member_barrier(me);
}

int main(void) {
  corecast_cluster_config config;
  memset(&config, 0, sizeof config);
  config.size = sizeof config;
  config.members = 1;
  corecast_cluster *cluster;
  check(corecast_cluster_open(&config, &cluster));
  corecast_member *me;
  check(corecast_cluster_join(cluster, 0, &me));
  rod[0] = 100;
  corecast_status status = compute(me);
  if (status == CORECAST_LOST) {
    char why[200];
    corecast_error_message(why, sizeof why);
    fprintf(stderr, "rank %" PRIu32 ": %s\n", corecast_member_rank(me), why);
    corecast_member *left;
    corecast_shrunk shrunk;
    check(corecast_member_shrink(me, NULL, 0, &left, &shrunk));
    corecast_member_leave(me);
    me = left;
    check(corecast_member_broadcast(me, 0, rod, sizeof rod));
    status = compute(me);
  }
  check(status);
  corecast_member_leave(me);
  corecast_cluster_close(cluster);
  return 0;
}
