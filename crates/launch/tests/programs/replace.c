// Replaces itself with the call that its first argument names.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
extern char** environ;
static void* by_thread(void* argv) {
  execv("/bin/sh", argv);
  return 0;
}
int main(int argc, char** argv) {
  const char* how = argv[1];
  char* args[] = {"shell", "-c", "echo \"$0 $VALUE\"; exit 6", "zero", 0};
  char* env[] = {"VALUE=given", "PATH=/bin", 0};
  if (!strcmp(how, "execve")) execve("/bin/sh", args, env);
  if (!strcmp(how, "execv")) execv("/bin/sh", args);
  if (!strcmp(how, "execvp")) execvp("sh", args);
  if (!strcmp(how, "execvpe")) execvpe("sh", args, env);
  if (!strcmp(how, "execl")) execl("/bin/sh", "shell", "-c", args[2], "zero", (char*)0);
  if (!strcmp(how, "execlp")) execlp("sh", "shell", "-c", args[2], "zero", (char*)0);
  if (!strcmp(how, "execle")) execle("/bin/sh", "shell", "-c", args[2], "zero", (char*)0, env);
  if (!strcmp(how, "fexecve")) fexecve(open("/bin/sh", O_RDONLY | O_CLOEXEC), args, env);
  if (!strcmp(how, "thread")) {
    pthread_t thread;
    pthread_create(&thread, 0, by_thread, args);
    pthread_join(thread, 0);
  }
  if (!strcmp(how, "self") && argc > 2) {
    argv[2][0]--;
    if (argv[2][0] >= '0') execv("/proc/self/exe", argv);
    return 6;
  }
  if (!strcmp(how, "script")) execv(argv[2], args);
  if (!strcmp(how, "missing")) {
    if (execvp("no-such-program", args) != -1 || errno != ENOENT) return 1;
    if (execv("/etc/passwd", args) != -1 || errno != EACCES) return 2;
    return 6;
  }
  return 9;
}
