// Three children by fork (the last with threads of its own, the second killed by a signal), one by
// vfork and exec, one by posix_spawn.
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
extern char** environ;
static void* work(void* arg) {
  for (int i = 0; i < 20000; i++) free(malloc(i % 1000));
  return arg;
}
static int wait_for(pid_t child) {
  int status = 0;
  if (waitpid(child, &status, 0) != child) abort();
  return status;
}
int main(void) {
  for (int i = 0; i < 3; i++) {
    pid_t child = fork();
    if (child == 0) {
      work(0);
      if (i == 1) raise(SIGKILL);
      pthread_t threads[4];
      for (int t = 0; t < 4 * (i == 2); t++) pthread_create(&threads[t], 0, work, 0);
      for (int t = 0; t < 4 * (i == 2); t++) pthread_join(threads[t], 0);
      _exit(i);
    }
    printf("%d ", wait_for(child));
    fflush(stdout);
  }
  pid_t child = vfork();
  if (child == 0) {
    execlp("sh", "sh", "-c", "exit 7", (char*)0);
    _exit(1);
  }
  printf("%d ", wait_for(child));
  char* args[] = {"sh", "-c", "exit 8", 0};
  if (posix_spawnp(&child, "sh", 0, 0, args, environ) != 0) abort();
  printf("%d\n", wait_for(child));
  work(0);
  return 5;
}
