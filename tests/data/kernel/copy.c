#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static int planted, out;
static unsigned char page[65536];

__attribute__((noinline)) unsigned digest(void) {
  unsigned sum = 7;
  for (int i = 0; i < 65536; i++) sum = sum * 31 + page[i];
  return sum;
}

__attribute__((noinline)) void copy(void) {
  int parts = planted ? 64 : 1;
  for (int i = 0; i < parts; i++)
    if (write(out, page, 65536 / parts) < 0) return;
}

int main(int count, char **arguments) {
  planted = !strcmp(arguments[1], "new");
  out = open("/dev/shm/out", O_WRONLY | O_CREAT | O_TRUNC, 0600);
  unsigned sum = 0;
  for (int i = 0; i < 30000; i++) {
    page[i]++;
    sum += digest();
    lseek(out, 0, SEEK_SET);
    copy();
  }
  printf("%u\n", sum);
  return 0;
}
