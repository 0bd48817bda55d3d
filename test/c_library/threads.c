/* A program without Python: eight threads run one model of two layers, each at sizes of its own, and check every
   result against plain loops; then what a wrong call is told. Prints "ok" as its last line. */
#include "mlp.h"

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { THREADS = 8, RUNS = 200, HIDDEN = 24 };
static mlp_t *model;

static float *numbers(size_t count, unsigned seed) {
  float *made = malloc((count ? count : 1) * sizeof *made);
  for (size_t k = 0; k < count; ++k) made[k] = (float)((seed = seed * 1664525u + 1013904223u) >> 16) / 65536.0f - 0.5f;
  return made;
}

static void *run_often(void *argument) {
  const int64_t number = *(const int *)argument, rows = 1 + 7 * number, inner = 5 + number;
  float *x = numbers(rows * inner, 1), *w1 = numbers(inner * HIDDEN, 2), *w2 = numbers(HIDDEN * 3, 3);
  float *y = malloc(rows * 3 * sizeof *y);
  const char *wrong = NULL;
  for (int run = 0; run < RUNS && !wrong; ++run) {
    memset(y, 0xff, rows * 3 * sizeof *y);
    mlp_params params = {.x = x, .w1 = w1, .w2 = w2, .y = y, .M = rows, .K = inner};
    if (mlp_run(model, &params) != MLP_OK) wrong = mlp_error();
    for (int64_t i = 0; i < rows && !wrong; ++i)
      for (int64_t o = 0; o < 3; ++o) {
        double sum = 0;
        for (int64_t h = 0; h < HIDDEN; ++h) {
          double hidden = 0;
          for (int64_t k = 0; k < inner; ++k) hidden += (double)x[i * inner + k] * w1[k * HIDDEN + h];
          sum += (hidden > 0 ? hidden : 0) * w2[h * 3 + o];
        }
        if (!(fabs(y[i * 3 + o] - sum) <= 1e-4 * (1 + fabs(sum)))) wrong = "a wrong number";
      }
  }
  free(x), free(w1), free(w2), free(y);
  return (void *)wrong;
}

static int told(int status, int expected, const char *part) {
  if (status == expected && strstr(mlp_error(), part)) return 1;
  printf("status %d, not %d, or '%s' is not in: %s\n", status, expected, part, mlp_error());
  return 0;
}

int main(void) {
  if (mlp_init(&model) != MLP_OK) return printf("%s\n", mlp_error()), 1;
  pthread_t threads[THREADS];
  int numbers_of[THREADS], failed = 0;
  for (int k = 0; k < THREADS; ++k) {
    numbers_of[k] = k;
    if (pthread_create(&threads[k], NULL, run_often, &numbers_of[k])) return printf("no thread\n"), 1;
  }
  for (int k = 0; k < THREADS; ++k) {
    void *wrong;
    pthread_join(threads[k], &wrong);
    if (wrong) failed = printf("thread %d: %s\n", k, (const char *)wrong);
  }
  float x[8] = {0}, w1[4 * HIDDEN] = {0}, w2[HIDDEN * 3] = {0}, y[6];
  mlp_params params = {.x = x, .w1 = w1, .w2 = w2, .y = y, .M = 2, .K = 4};
  if (mlp_required_memory(&params) <= 0) failed = printf("no arena\n");
  params.M = -1;
  if (!told(mlp_run(model, &params), MLP_INVALID_SIZES, "M is -1")) failed = 1;
  params.M = INT64_MAX / 2;
  if (!told(mlp_run(model, &params), MLP_INVALID_SIZES, "63 bits")) failed = 1;
  params.M = 2, params.x = NULL;
  if (!told(mlp_run(model, &params), MLP_INVALID_ARGUMENT, "input 'x' is NULL")) failed = 1;
  params.M = 0; /* no elements: no address is needed */
  if (mlp_run(model, &params) != MLP_OK) failed = printf("%s\n", mlp_error());
  params.M = 2, params.x = x, params.y = x;
  if (!told(mlp_run(model, &params), MLP_INVALID_ARGUMENT, "output 'y' overlaps input 'x'")) failed = 1;
  params.y = (float *)((char *)y + 1);
  if (!told(mlp_run(model, &params), MLP_INVALID_ARGUMENT, "no multiple of its element's 4 bytes")) failed = 1;
  if (!told(mlp_run(model, NULL), MLP_INVALID_ARGUMENT, "Param-Block is NULL")) failed = 1;
  mlp_free(model);
  mlp_free(NULL);
  if (!failed) printf("ok\n");
  return failed ? 1 : 0;
}
