// How fast do two threads of mine stream values, and is every one of them whole?
#define _POSIX_C_SOURCE 200809L

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <corecast.h>

#include "check.h"

enum { COUNT = 5000000, WORDS = 7 };

static void *receive(void *argument) {
  corecast_ump_receiver *receiver = (corecast_ump_receiver *)argument;
  corecast_message message;
  corecast_status status;
  uint64_t expected = 0;
  while ((status = corecast_ump_receiver_recv(receiver, &message)) == CORECAST_OK) {
    // The message is read where the sender wrote it; receiving the next one releases it.
    const uint64_t *words = (const uint64_t *)message.data;
    for (int i = 0; i < WORDS; i++) {
      if (message.len != WORDS * sizeof *words || words[i] != expected) {
        fprintf(stderr, "message %llu is torn, lost or out of order\n", (unsigned long long)expected);
        exit(1);
      }
    }
    expected++;
  }
  // The sender says goodbye by closing its end.
  if (status != CORECAST_CLOSED || expected != COUNT) {
    check(status);
    exit(1);
  }
  corecast_ump_receiver_close(receiver);
  return NULL;
}

int main(void) {
  corecast_ump_config config;
  memset(&config, 0, sizeof config);
  config.size = sizeof config;
  config.slots = 1024;
  corecast_ump_sender *sender;
  corecast_ump_receiver *receiver;
  check(corecast_ump_create(&config, &sender, &receiver));

  struct timespec began, ended;
  clock_gettime(CLOCK_MONOTONIC, &began);
  pthread_t thread;
  if (pthread_create(&thread, NULL, receive, receiver) != 0) {
    return 1;
  }
  for (uint64_t number = 0; number < COUNT; number++) {
    uint64_t words[WORDS];
    for (int i = 0; i < WORDS; i++) {
      words[i] = number;
    }
    check(corecast_ump_sender_send(sender, words, sizeof words));
  }
  corecast_ump_sender_close(sender);
  pthread_join(thread, NULL);
  clock_gettime(CLOCK_MONOTONIC, &ended);
  double ns = (double)(ended.tv_sec - began.tv_sec) * 1e9 + (double)(ended.tv_nsec - began.tv_nsec);
  printf("%d messages of 56 bytes, %.1f ns each\n", (int)COUNT, ns / COUNT);
  return 0;
}
