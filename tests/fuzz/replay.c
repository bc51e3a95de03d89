/* Runs a fuzz target over files and directories, with any compiler: past crashes and seeds as an
 * ordinary test. libFuzzer brings its own main instead (TG_FUZZ). */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int replay(const char *path)
{
    FILE *f = fopen(path, "rb");
    uint8_t *data;
    long size = 0;
    size_t got;
    if (!f || fseek(f, 0, SEEK_END) || (size = ftell(f)) < 0 || fseek(f, 0, SEEK_SET)) {
        fprintf(stderr, "cannot read %s\n", path);
        return 1;
    }
    data = malloc((size_t)size + 1);
    if (!data)
        return 1;
    got = fread(data, 1, (size_t)size, f);
    (void)fclose(f);
    (void)LLVMFuzzerTestOneInput(data, got);
    /* Every input is also tried cut and with single bytes changed: cheap, and finds a lot. */
    for (size_t cut = 0; cut < got; cut += 1 + got / 64)
        (void)LLVMFuzzerTestOneInput(data, cut);
    for (size_t i = 0; i < got; i += 1 + got / 256) {
        data[i] ^= 0x15;
        (void)LLVMFuzzerTestOneInput(data, got);
        data[i] ^= 0x15;
    }
    free(data);
    return 0;
}

static int replay_dir(const char *path)
{
    DIR *d = opendir(path);
    struct dirent *e;
    int failed = 0, n = 0;
    if (!d)
        return replay(path);
    while ((e = readdir(d))) {
        char file[4096];
        if (e->d_name[0] == '.')
            continue;
        (void)snprintf(file, sizeof file, "%s/%s", path, e->d_name);
        failed |= replay(file);
        n++;
    }
    (void)closedir(d);
    printf("%s: %d inputs\n", path, n);
    return failed || n == 0;
}

int main(int argc, char **argv)
{
    int failed = argc < 2;
    for (int i = 1; i < argc; i++)
        failed |= replay_dir(argv[i]);
    return failed;
}
