// How do the members of several machines add up?
//
// Start it with: mpirun --map-by ppr:1:node corecast run -n 4 -- far_sum
// Without `corecast run` each node has one member; without a launcher there is one node.
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <corecast.h>

#include "check.h"

enum { VALUES = 20000 };

int main(void) {
  corecast_cluster_config config;
  memset(&config, 0, sizeof config);
  config.size = sizeof config;
  config.members = 1;
  corecast_cluster *cluster;
  check(corecast_cluster_open(&config, &cluster));
  corecast_member *me;
  check(corecast_cluster_join(cluster, 0, &me));

  uint64_t rank = corecast_member_rank(me), members = corecast_member_members(me);
  static uint64_t values[VALUES];
  for (int i = 0; i < VALUES; i++) {
    values[i] = rank + 1;
  }
  check(corecast_member_allreduce(me, values, VALUES, CORECAST_NUMBER_UINT64, CORECAST_OP_SUM));
  for (int i = 0; i < VALUES; i++) {
    if (values[i] != members * (members + 1) / 2) {
      fprintf(stderr, "place %d is %" PRIu64 "\n", i, values[i]);
      return 1;
    }
  }
  corecast_cluster_place place;
  check(corecast_cluster_info(me, &place));
  printf("rank %" PRIu64 " of %" PRIu64 ", on node %" PRIu32 " of %" PRIu32 ": the sum is %" PRIu64 "\n", rank, members, place.node,
         place.nodes, values[0]);
  check(corecast_member_barrier(me));
  corecast_member_leave(me);
  corecast_cluster_close(cluster);
  return 0;
}
