// How do the processes of a program that I have meet, and what does each notice when one of them is killed?
//
// Start it with: corecast run -n 4 -- hello_group [SECONDS]
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <corecast.h>

enum { ROUNDS = 100 };

static corecast_member *me;

// Ends the program if the call failed: with 3, naming the member, if one is lost.
static void check(corecast_status status) {
  if (status == CORECAST_OK) {
    return;
  }
  char why[200];
  corecast_error_message(why, sizeof why);
  if (status == CORECAST_LOST) {
    fprintf(stderr, "%s, says rank %" PRIu32 "\n", why, corecast_member_rank(me));
    exit(3);
  }
  fprintf(stderr, "%s: %s\n", corecast_status_name(status), why);
  exit(1);
}

int main(int count, char **arguments) {
  double seconds = count > 1 ? atof(arguments[1]) : 1;
  const uint64_t minute_ns = UINT64_C(60000000000);
  check(corecast_member_of_run(minute_ns, &me));
  uint32_t rank = corecast_member_rank(me);

  uint64_t greeting = rank == 0 ? 42 : 0;
  check(corecast_member_broadcast(me, 0, &greeting, sizeof greeting));
  uint64_t sum = greeting + rank;
  check(corecast_member_allreduce(me, &sum, 1, CORECAST_NUMBER_UINT64, CORECAST_OP_SUM));
  printf("rank %" PRIu32 " of %" PRIu32 ": the sum is %" PRIu64 "\n", rank, corecast_member_members(me), sum);
  fflush(stdout);

  time_t begin = time(NULL);
  for (;;) {
    // All have to stop after the same round, so they agree on it.
    int32_t goes_on = difftime(time(NULL), begin) < seconds;
    check(corecast_member_allreduce(me, &goes_on, 1, CORECAST_NUMBER_INT32, CORECAST_OP_MIN));
    if (!goes_on) {
      break;
    }
    for (int i = 0; i < ROUNDS; i++) {
      check(corecast_member_barrier(me));
    }
  }
  corecast_member_leave(me);
  return 0;
}
