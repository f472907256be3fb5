// How does my event loop wait for channels and for file descriptors at once, without a library?
#define _POSIX_C_SOURCE 200809L

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include <corecast.h>

#include "check.h"

enum { WORKERS = 3, COUNT = 1000 };

typedef struct worker {
  corecast_ump_sender *sender;
  uint64_t factor;
} worker;

static void *work(void *argument) {
  worker *me = (worker *)argument;
  for (uint64_t n = 1; n <= COUNT; n++) {
    uint64_t product = me->factor * n;
    check(corecast_ump_sender_send(me->sender, &product, sizeof product));
  }
  corecast_ump_sender_close(me->sender);
  return NULL;
}

static void watch(int events, int fd) {
  struct epoll_event event;
  memset(&event, 0, sizeof event);
  event.events = EPOLLIN;
  event.data.fd = fd;
  if (epoll_ctl(events, EPOLL_CTL_ADD, fd, &event) != 0) {
    exit(1);
  }
}

int main(void) {
  corecast_select *select;
  check(corecast_select_create(CORECAST_WAIT_ADAPTIVE, &select));
  worker workers[WORKERS];
  pthread_t threads[WORKERS];
  for (int i = 0; i < WORKERS; i++) {
    corecast_ump_receiver *receiver;
    uint32_t number;
    check(corecast_ump_create(NULL, &workers[i].sender, &receiver));
    check(corecast_select_add_ump(select, receiver, &number));
    workers[i].factor = (uint64_t)i + 1;
    if (pthread_create(&threads[i], NULL, work, &workers[i]) != 0) {
      return 1;
    }
  }
  int ends[2], fd, events = epoll_create1(0);
  check(corecast_select_fd(select, &fd));
  if (events < 0 || pipe(ends) != 0 || write(ends[1], "x", 1) != 1) {
    return 1;
  }
  watch(events, fd);
  watch(events, ends[0]);

  unsigned long long sum = 0, bytes = 0;
  for (;;) {
    // Receive all there is; only then ask to be told of more, and only then sleep.
    uint32_t number;
    corecast_message message;
    corecast_status status = corecast_select_try_recv(select, &number, &message);
    if (status == CORECAST_OK) {
      uint64_t product;
      memcpy(&product, message.data, sizeof product);
      sum += product;
    } else if (status == CORECAST_EMPTY) {
      bool is_ready;
      check(corecast_select_arm(select, &is_ready));
      struct epoll_event ready;
      if (!is_ready && epoll_wait(events, &ready, 1, -1) == 1 && ready.data.fd == ends[0]) {
        char byte;
        bytes += read(ends[0], &byte, 1) == 1;
      }
    } else if (status == CORECAST_NONE_LEFT) {
      break;
    } else if (status != CORECAST_CLOSED) {
      check(status);
    }
  }
  for (int i = 0; i < WORKERS; i++) {
    pthread_join(threads[i], NULL);
  }
  corecast_select_destroy(select);
  // The pipe may not have had its turn.
  char byte;
  bytes += bytes == 0 && read(ends[0], &byte, 1) == 1;
  printf("received from three channels: %llu (1 + 2 + 3 times 500500); from the pipe: %llu byte\n", sum, bytes);
  return 0;
}
