// Each rank gives (rank + 1) times 1 2 3; every rank gets the sum, then the mean while it does
// something else, and rank 0 prints both. Run it with
//   ./fanin launch -n 2 -- build/release/bin/example_all_reduce_c
// Alone it is a group of one.

#include <fanin/fanin.h>
#include <stdio.h>

static int reduce(fanin_group* group) {
  int32_t rank, size;
  if (fanin_rank(group, &rank) || fanin_size(group, &size)) return 1;

  const float scale = (float)(rank + 1);
  const float gradient[3] = {1 * scale, 2 * scale, 3 * scale};
  float sum[3];
  if (fanin_all_reduce(group, gradient, sum, 3, FANIN_FLOAT32, NULL, NULL)) return 1;

  const fanin_call_options options = {.size = sizeof options, .op = FANIN_MEAN};
  float mean[3];
  fanin_handle* handle;
  if (fanin_all_reduce(group, gradient, mean, 3, FANIN_FLOAT32, &options, &handle)) return 1;
  // Here is time for something else.
  const int32_t code = fanin_handle_wait(handle);
  fanin_handle_free(handle);
  if (code) return 1;

  if (rank == 0)
    printf("%d ranks: sum %g %g %g, mean %g %g %g\n", size, sum[0], sum[1], sum[2], mean[0],
           mean[1], mean[2]);
  return 0;
}

int main(void) {
  fanin_group* group;
  const int failed = fanin_join(NULL, &group) || reduce(group);
  if (failed) fprintf(stderr, "%s\n", fanin_last_error());
  fanin_group_free(group);
  return failed;
}
