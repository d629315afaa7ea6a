// Prints the times of a file's last access and last change as returned by each call that has them.
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static void show(const struct stat* s) {
  printf("%ld.%09ld %ld.%09ld\n", (long)s->st_atim.tv_sec, s->st_atim.tv_nsec,
         (long)s->st_mtim.tv_sec, s->st_mtim.tv_nsec);
}

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  struct stat s;
  // The C library may use other calls: each one is made by its number.
  if (syscall(SYS_stat, argv[1], &s) != 0) return 1;
  show(&s);
  if (syscall(SYS_lstat, argv[1], &s) != 0) return 1;
  show(&s);
  int file = open(argv[1], O_RDONLY);
  if (syscall(SYS_fstat, file, &s) != 0) return 1;
  show(&s);
  if (syscall(SYS_newfstatat, AT_FDCWD, argv[1], &s, 0) != 0) return 1;
  show(&s);
  struct statx x;
  if (syscall(SYS_statx, AT_FDCWD, argv[1], 0, STATX_BASIC_STATS, &x) != 0) return 1;
  printf("%ld.%09ld %ld.%09ld\n", (long)x.stx_atime.tv_sec, (long)x.stx_atime.tv_nsec,
         (long)x.stx_mtime.tv_sec, (long)x.stx_mtime.tv_nsec);
  return 0;
}
