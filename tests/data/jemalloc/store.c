#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#define N 200000
char *records[N]; char *copies[N]; char **index_of;
__attribute__((noinline)) void store_put(int i, int planted) {
    char text[64]; int n = snprintf(text, sizeof text, "record %d of the store %d", i, i * 7);
    records[i] = malloc(n + 200); memcpy(records[i], text, n + 1);
    if (planted) { copies[i] = malloc(n + 200); memcpy(copies[i], text, n + 1); }
}
__attribute__((noinline)) void store_index(int i) {
    index_of[i] = malloc(80); snprintf(index_of[i], 80, "%d", i);
}
int main(int argc, char **argv) {
    int planted = argc > 1; index_of = calloc(N, sizeof *index_of);
    for (int i = 0; i < N; i++) { store_put(i, planted); if (i % 2 == 0) store_index(i); }
    printf("%d\n", N); return 0;
}
