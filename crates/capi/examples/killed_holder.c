// What happens to a lock among processes when its holder is killed?
//
// Two processes move money between two accounts in memory that they share. One is killed half way, while it holds the lock:
// the other one gets CORECAST_OWNER_DIED, and repairs the accounts.
#define _DEFAULT_SOURCE

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <corecast.h>

#include "check.h"

enum { TOTAL = 100 };

// Read and written while the lock is held.
typedef struct {
  int64_t mine;
  int64_t yours;
} accounts;

// The one that is killed.
static void take_half(const corecast_shared_lock *inherited, int region_fd, int news, accounts *shared) {
  corecast_region *region;
  corecast_shared_lock *lock;
  if (corecast_shared_lock_lock(inherited) != CORECAST_FORKED) {
    fprintf(stderr, "what was opened before the fork is the parent's\n");
    exit(1);
  }
  check(corecast_region_open_fd(region_fd, &region));
  check(corecast_shared_lock_open(region, "accounts", &lock));
  check(corecast_shared_lock_lock(lock));
  shared->mine -= 30;
  if (write(news, "h", 1) != 1) {
    exit(1);
  }
  for (;;) {
    pause();
  }
}

int main(void) {
  corecast_region_plan *plan;
  corecast_region *region;
  corecast_shared_lock *lock;
  check(corecast_region_plan_create(&plan));
  check(corecast_region_plan_add_lock(plan, "accounts", CORECAST_LOCK_ALGORITHM_WORD));
  check(corecast_region_create_memfd(plan, &region));
  corecast_region_plan_destroy(plan);
  check(corecast_shared_lock_open(region, "accounts", &lock));
  void *memory = mmap(NULL, sizeof(accounts), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  int fd, news[2];
  check(corecast_region_share_fd(region, &fd));
  if (memory == MAP_FAILED || pipe(news) != 0) {
    return 1;
  }
  accounts *shared = (accounts *)memory;
  shared->mine = TOTAL;

  pid_t child = fork();
  if (child == 0) {
    take_half(lock, fd, news[1], shared);
  }
  close(news[1]);
  char what;
  if (child < 0 || read(news[0], &what, 1) != 1) {
    return 1;
  }
  kill(child, SIGKILL);
  waitpid(child, NULL, 0);

  corecast_status status = corecast_shared_lock_lock(lock);
  if (status == CORECAST_OWNER_DIED) {
    printf("the holder died, and left %d of %d\n", (int)(shared->mine + shared->yours), TOTAL);
    shared->yours = TOTAL - shared->mine;
  } else {
    check(status);
  }
  check(corecast_shared_lock_unlock(lock));

  // From now on the lock is like any other.
  check(corecast_shared_lock_lock(lock));
  int total = (int)(shared->mine + shared->yours);
  printf("repaired: %d of %d\n", total, TOTAL);
  check(corecast_shared_lock_unlock(lock));
  corecast_shared_lock_close(lock);
  corecast_region_close(region);
  close(fd);
  close(news[0]);
  return total == TOTAL ? 0 : 1;
}
