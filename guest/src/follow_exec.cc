// A traced program that replaces itself goes on being traced.
//
// QEMU would run the new image natively. So in the traced process, and only there, an exec of an
// x86-64 program (or of a script whose interpreter is one) becomes an exec of QEMU with the plugin,
// which attaches to the same ring. Children, programs for other machines, set-user-id programs, and
// everything after the consumer has left run natively, as without this file.
//
// The launcher tells by environment variables, which are read when this library is loaded:
//   MALLACC_RING    the ring; its first bytes say which process is traced
//   MALLACC_FOLLOW  QEMU and its options, with the ASCII unit separator in between
//
// No allocation and no writable state after loading: an exec may come in a signal handler or in a
// child of vfork().
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base.h"

namespace mallacc {
namespace {

using Strings = char* const*;

constexpr char kSeparator = '\x1f';
constexpr size_t kWordsMax = 16;
// Linux reads this much of a file to find its interpreter.
constexpr size_t kHead = 256;
// Linux gives up after this many interpreters of interpreters.
constexpr int kDepthMax = 5;

// Written once, when the library is loaded.
struct Config {
  char ring[128];
  char follow[8192];  // the words, each with its end
  char* words[kWordsMax + 1];
  char preload[PATH_MAX];  // this library
  char ring_variable[160];
  char follow_variable[8192 + 32];
  bool ready;
};
Config g_config;

// The start of the ring: Head in crates/stream/src/live/layout.rs, where a test holds the places.
struct RingHead {
  char magic[8];
  uint32_t version;
  uint32_t state;
  uint32_t producer_pid;
  uint32_t detach;
};
constexpr uint32_t kRingVersion = 3;

bool copy(char* to, size_t room, const char* from, size_t length) {
  if (length >= room) return false;
  memcpy(to, from, length);
  to[length] = '\0';
  return true;
}

const char* value_of(const char* variable, const char* name) {
  size_t length = strlen(name);
  bool is_it = strncmp(variable, name, length) == 0 && variable[length] == '=';
  return is_it ? variable + length + 1 : nullptr;
}

const char* value_in(Strings environment, const char* name) {
  for (; environment != nullptr && *environment != nullptr; ++environment) {
    if (const char* value = value_of(*environment, name)) return value;
  }
  return nullptr;
}

bool join(char* to, size_t room, const char* name, const char* value) {
  size_t length = strlen(name);
  if (length + 1 >= room) return false;
  memcpy(to, name, length);
  to[length] = '=';
  return copy(to + length + 1, room - length - 1, value, strlen(value));
}

__attribute__((constructor)) void at_load() {
  Config& c = g_config;
  const char* ring = value_in(environ, "MALLACC_RING");
  const char* follow = value_in(environ, "MALLACC_FOLLOW");
  const char* preload = value_in(environ, "LD_PRELOAD");
  if (ring == nullptr || follow == nullptr || preload == nullptr) return;
  // The launcher puts this library first.
  if (!copy(c.preload, sizeof c.preload, preload, strcspn(preload, ": "))) return;
  if (!copy(c.ring, sizeof c.ring, ring, strlen(ring))) return;
  if (!copy(c.follow, sizeof c.follow, follow, strlen(follow))) return;
  if (!join(c.ring_variable, sizeof c.ring_variable, "MALLACC_RING", ring)) return;
  if (!join(c.follow_variable, sizeof c.follow_variable, "MALLACC_FOLLOW", follow)) return;
  size_t count = 0;
  for (char* word = c.follow; word != nullptr;) {
    if (count == kWordsMax) return;
    c.words[count++] = word;
    word = strchr(word, kSeparator);
    if (word != nullptr) *word++ = '\0';
  }
  c.ready = true;
}

// Reads the beginning of a file; how many bytes, or -1.
ssize_t read_head(const char* path, void* to, size_t room, struct stat* about) {
  int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return -1;
  ssize_t got = about == nullptr || fstat(file, about) == 0 ? read(file, to, room) : -1;
  close(file);
  return got;
}

// Whether this process is the traced one and someone still listens.
bool is_traced() {
  RingHead head;
  if (!g_config.ready) return false;
  if (read_head(g_config.ring, &head, sizeof head, nullptr) != sizeof head) return false;
  return memcmp(head.magic, "MallRing", sizeof head.magic) == 0 && head.version == kRingVersion &&
         head.producer_pid == static_cast<uint32_t>(syscall(SYS_getpid)) && head.detach == 0;
}

bool is_x86_64_program(const char* head, ssize_t length) {
  Elf64_Ehdr elf;
  if (length < static_cast<ssize_t>(sizeof elf)) return false;
  memcpy(&elf, head, sizeof elf);
  return memcmp(elf.e_ident, ELFMAG, SELFMAG) == 0 && elf.e_ident[EI_CLASS] == ELFCLASS64 &&
         elf.e_machine == EM_X86_64 && (elf.e_type == ET_EXEC || elf.e_type == ET_DYN);
}

int plain_exec(const char* path, Strings argv, Strings environment) {
  return static_cast<int>(syscall(SYS_execve, path, argv, environment));
}

size_t count(Strings strings) {
  size_t n = 0;
  while (strings != nullptr && strings[n] != nullptr) ++n;
  return n;
}

// Variables that speak to the dynamic linker must not reach QEMU; they go through its option -E,
// which takes a comma as the end of a variable.
bool for_guest_only(const char* variable) {
  return strncmp(variable, "LD_", 3) == 0 && strchr(variable, ',') == nullptr;
}

// The path of a file without symbolic links, for QEMU: some versions put it on the new program's
// stack, and others what they are given.
bool real_path(const char* path, char (&to)[PATH_MAX]) {
  int file = open(path, O_PATH | O_CLOEXEC);
  if (file < 0) return false;
  char link[32];
  snprintf(link, sizeof link, "/proc/self/fd/%d", file);
  ssize_t length = readlink(link, to, sizeof to - 1);
  close(file);
  if (length <= 0 || to[0] != '/') return false;
  to[length] = '\0';
  return true;
}

// Executes QEMU in place of the program at `path`. Returns only when that fails.
void exec_qemu(const char* path, Strings argv, Strings environment) {
  size_t args = count(argv), variables = count(environment);
  char** out =
      static_cast<char**>(__builtin_alloca((kWordsMax + 2 * variables + args + 8) * sizeof(char*)));
  char** env = static_cast<char**>(__builtin_alloca((variables + 3) * sizeof(char*)));
  // This library first, and what else is to be preloaded.
  const char* own = value_in(environment, "LD_PRELOAD");
  if (own != nullptr && (strchr(own, ',') != nullptr || *own == '\0')) own = nullptr;
  size_t ours = strlen(g_config.preload);
  bool is_there = own != nullptr && strncmp(own, g_config.preload, ours) == 0;
  size_t room = ours + (own == nullptr ? 0 : strlen(own)) + 32;
  char* preload = static_cast<char*>(__builtin_alloca(room));
  strcpy(preload, "LD_PRELOAD=");
  if (!is_there) strcat(preload, g_config.preload);
  if (!is_there && own != nullptr) strcat(preload, ":");
  if (own != nullptr) strcat(preload, own);

  size_t n = 0, e = 0;
  for (char* const* word = g_config.words; *word != nullptr; ++word) out[n++] = *word;
  auto option = [&](const char* name, const char* value) {
    out[n++] = const_cast<char*>(name);
    out[n++] = const_cast<char*>(value);
  };
  option("-E", preload);
  for (size_t i = 0; i < variables; ++i) {
    char* variable = environment[i];
    bool replaced = value_of(variable, "MALLACC_RING") != nullptr ||
                    value_of(variable, "MALLACC_FOLLOW") != nullptr;
    if (replaced || (for_guest_only(variable) && value_of(variable, "LD_PRELOAD") != nullptr)) {
      continue;
    }
    if (for_guest_only(variable)) {
      option("-E", variable);
    } else {
      env[e++] = variable;
    }
  }
  env[e++] = g_config.ring_variable;
  env[e++] = g_config.follow_variable;
  env[e] = nullptr;
  option("-0", args == 0 ? path : argv[0]);
  char real[PATH_MAX];
  out[n++] = const_cast<char*>(real_path(path, real) ? real : path);
  for (size_t i = 1; i < args; ++i) out[n++] = argv[i];
  out[n] = nullptr;
  plain_exec(g_config.words[0], out, env);
}

// An interpreter and its argument, cut out of a `#!` line in place; false when there is none.
bool parse_script(char* head, ssize_t length, char** interpreter, char** argument) {
  if (length < 3 || head[0] != '#' || head[1] != '!') return false;
  head[length] = '\0';
  head[2 + strcspn(head + 2, "\n")] = '\0';
  char* start = head + 2 + strspn(head + 2, " \t");
  char* end = start + strcspn(start, " \t");
  if (start == end) return false;
  *interpreter = start;
  *argument = nullptr;
  if (*end == '\0') return true;
  *end = '\0';
  char* more = end + 1 + strspn(end + 1, " \t");
  size_t last = strlen(more);
  while (last > 0 && strchr(" \t", more[last - 1]) != nullptr) --last;
  more[last] = '\0';
  if (last > 0) *argument = more;
  return true;
}

// Executes QEMU if `path` is, or leads to, a program that can be traced. Returns when not.
void try_follow(const char* path, Strings argv, Strings environment, int depth) {
  char head[kHead + 1], target[PATH_MAX];
  if (strncmp(path, "/proc/", 6) == 0) {
    // What /proc/self/exe names is something else once QEMU runs.
    ssize_t size = readlink(path, target, sizeof target - 1);
    if (size <= 0) return;
    target[size] = '\0';
    path = target;
  }
  struct stat about;
  if (depth > kDepthMax || access(path, X_OK) != 0) return;
  ssize_t length = read_head(path, head, kHead, &about);
  if (length < 0 || !S_ISREG(about.st_mode)) return;
  if (is_x86_64_program(head, length)) {
    if ((about.st_mode & (S_ISUID | S_ISGID)) == 0) exec_qemu(path, argv, environment);
    return;
  }
  char *interpreter, *argument;
  if (!parse_script(head, length, &interpreter, &argument)) return;
  size_t args = count(argv), n = 0;
  char** out = static_cast<char**>(__builtin_alloca((args + 4) * sizeof(char*)));
  out[n++] = interpreter;
  if (argument != nullptr) out[n++] = argument;
  out[n++] = const_cast<char*>(path);
  for (size_t i = 1; i < args; ++i) out[n++] = argv[i];
  out[n] = nullptr;
  try_follow(interpreter, out, environment, depth + 1);
}

int exec(const char* path, Strings argv, Strings environment) {
  if (UNLIKELY(g_config.ready) && path != nullptr && is_traced()) {
    try_follow(path, argv, environment, 0);
  }
  return plain_exec(path, argv, environment);
}

// A text without `#!` is for the shell, as POSIX has it for the calls that search.
int exec_or_shell(const char* path, Strings argv, Strings environment) {
  int result = exec(path, argv, environment);
  if (errno != ENOEXEC) return result;
  size_t args = count(argv), n = 0;
  char** out = static_cast<char**>(__builtin_alloca((args + 3) * sizeof(char*)));
  out[n++] = const_cast<char*>("/bin/sh");
  out[n++] = const_cast<char*>(path);
  for (size_t i = 1; i < args; ++i) out[n++] = argv[i];
  out[n] = nullptr;
  return exec(out[0], out, environment);
}

int search_and_exec(const char* name, Strings argv, Strings environment) {
  if (*name == '\0') {
    errno = ENOENT;
    return -1;
  }
  if (strchr(name, '/') != nullptr) return exec_or_shell(name, argv, environment);
  const char* path = value_in(environ, "PATH");
  if (path == nullptr) path = "/bin:/usr/bin";
  size_t length = strlen(name);
  bool denied = false;
  errno = ENOENT;
  for (;;) {
    char file[PATH_MAX];
    size_t dir = strcspn(path, ":");
    if (dir + length + 2 <= sizeof file) {
      memcpy(file, path, dir);
      size_t slash = dir == 0 ? 0 : 1;
      if (slash != 0) file[dir] = '/';
      memcpy(file + dir + slash, name, length + 1);
      exec_or_shell(file, argv, environment);
      // Those mean that the program is not here; it may be elsewhere.
      if (errno == EACCES) denied = true;
      bool goes_on = errno == EACCES || errno == ENOENT || errno == ENOTDIR || errno == ESTALE ||
                     errno == ENODEV || errno == ETIMEDOUT;
      if (!goes_on) return -1;
    }
    if (path[dir] == '\0') break;
    path += dir + 1;
  }
  if (denied) errno = EACCES;
  return -1;
}

// Makes an array of a list of arguments; `last` is the list after its null.
#define COLLECT(list, first, argv)                                                  \
  va_list list, counting;                                                           \
  va_start(list, first);                                                            \
  va_copy(counting, list);                                                          \
  size_t total = 1;                                                                 \
  while (va_arg(counting, char*) != nullptr) ++total;                               \
  va_end(counting);                                                                 \
  char** argv = static_cast<char**>(__builtin_alloca((total + 1) * sizeof(char*))); \
  argv[0] = const_cast<char*>(first);                                               \
  for (size_t i = 1; i <= total; ++i) argv[i] = va_arg(list, char*)

}  // namespace
}  // namespace mallacc

extern "C" {

EXPORT int execve(const char* path, char* const argv[], char* const envp[]) noexcept {
  return mallacc::exec(path, argv, envp);
}

EXPORT int execv(const char* path, char* const argv[]) noexcept {
  return mallacc::exec(path, argv, environ);
}

EXPORT int execvp(const char* file, char* const argv[]) noexcept {
  return mallacc::search_and_exec(file, argv, environ);
}

EXPORT int execvpe(const char* file, char* const argv[], char* const envp[]) noexcept {
  return mallacc::search_and_exec(file, argv, envp);
}

EXPORT int execl(const char* path, const char* arg, ...) noexcept {
  COLLECT(list, arg, argv);
  va_end(list);
  return mallacc::exec(path, argv, environ);
}

EXPORT int execlp(const char* file, const char* arg, ...) noexcept {
  COLLECT(list, arg, argv);
  va_end(list);
  return mallacc::search_and_exec(file, argv, environ);
}

EXPORT int execle(const char* path, const char* arg, ...) noexcept {
  COLLECT(list, arg, argv);
  char* const* envp = va_arg(list, char* const*);
  va_end(list);
  return mallacc::exec(path, argv, envp);
}

EXPORT int fexecve(int fd, char* const argv[], char* const envp[]) noexcept {
  char link[40] = "/proc/self/fd/", path[PATH_MAX];
  char digits[12];
  size_t n = 0;
  for (unsigned rest = static_cast<unsigned>(fd); n == 0 || rest != 0; rest /= 10) {
    digits[n++] = static_cast<char>('0' + rest % 10);
  }
  size_t at = strlen(link);
  while (n > 0) link[at++] = digits[--n];
  link[at] = '\0';
  // The descriptor may close on exec, so QEMU needs the file's own path.
  ssize_t length = fd < 0 ? -1 : readlink(link, path, sizeof path - 1);
  struct stat by_path, by_fd;
  if (length > 0 && mallacc::is_traced()) {
    path[length] = '\0';
    bool same = stat(path, &by_path) == 0 && fstat(fd, &by_fd) == 0 &&
                by_path.st_ino == by_fd.st_ino && by_path.st_dev == by_fd.st_dev;
    if (same) mallacc::try_follow(path, argv, envp, 0);
  }
  return static_cast<int>(syscall(SYS_execveat, fd, "", argv, envp, AT_EMPTY_PATH));
}

}  // extern "C"
