// How do two processes find the memory they share by a name, and who is there?
#define _POSIX_C_SOURCE 200809L

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <corecast.h>

#include "check.h"

// Another program: all it knows is the directory and the name.
static int visit(const char *directory) {
  corecast_region *region;
  check(corecast_region_open_named(directory, "shop", &region));
  corecast_ump_sender *sender;
  check(corecast_ump_sender_open(region, "orders", &sender));
  // Written where the receiver will read it.
  void *room;
  const char order[] = "two coffees";
  check(corecast_ump_sender_reserve(sender, sizeof order, &room));
  memcpy(room, order, sizeof order);
  check(corecast_ump_sender_commit(sender));
  corecast_ump_sender_close(sender);
  corecast_region_close(region);
  return 0;
}

int main(void) {
  char directory[] = "/tmp/corecast-region-XXXXXX";
  if (mkdtemp(directory) == NULL) {
    return 1;
  }
  corecast_region_plan *plan;
  check(corecast_region_plan_create(&plan));
  check(corecast_region_plan_add_ump(plan, "orders", NULL));
  corecast_region *region;
  check(corecast_region_create_named(directory, "shop", plan, &region));
  corecast_region_plan_destroy(plan);
  corecast_ump_receiver *receiver;
  check(corecast_ump_receiver_open(region, "orders", &receiver));

  pid_t visitor = fork();
  if (visitor == 0) {
    // Objects opened before the fork are the parent's: the child gets CORECAST_FORKED, and attaches anew.
    corecast_message message;
    corecast_status status = corecast_ump_receiver_try_recv(receiver, &message);
    _exit(status == CORECAST_FORKED ? visit(directory) : 1);
  }
  corecast_message message;
  check(corecast_ump_receiver_recv(receiver, &message));
  printf("received: %s\n", (const char *)message.data);
  corecast_status status = corecast_ump_receiver_recv(receiver, &message);
  printf("then: %s\n", corecast_status_name(status));
  int how = 1;
  waitpid(visitor, &how, 0);

  corecast_participant who[8];
  size_t count;
  check(corecast_region_participants(region, who, 8, &count));
  printf("in the shop: %d, %s\n", (int)count, who[0].pid == (uint32_t)getpid() ? "this process" : "a stranger");
  corecast_ump_receiver_close(receiver);
  corecast_region_close(region);
  // The last one to leave took the name away: the directory is empty.
  return rmdir(directory) == 0 && how == 0 ? 0 : 1;
}
