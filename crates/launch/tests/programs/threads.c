// Threads that allocate, wait for each other, and hand blocks over.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static void* shared;
static void* work(void* arg) {
  for (int i = 0; i < 5000; i++) {
    void* mine = malloc(i % 300 + 1);
    pthread_mutex_lock(&lock);
    void* other = shared;
    shared = mine;
    pthread_mutex_unlock(&lock);
    free(other);
  }
  return arg;
}
int main(int argc, char** argv) {
  int n = atoi(argv[argc - 1]);
  pthread_t* threads = malloc(sizeof *threads * n);
  for (int round = 0; round < 2; round++) {
    for (int i = 0; i < n; i++) pthread_create(&threads[i], 0, work, 0);
    for (int i = 0; i < n; i++) pthread_join(threads[i], 0);
  }
  puts("joined");
  return 0;
}
