/* An anchor of docs/benchmarks.md: the whole text as a tree of cJSON. Debian: libcjson-dev.
 * anchor_cjson FILE */
#include <cjson/cJSON.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    FILE *f = argc > 1 ? fopen(argv[1], "rb") : NULL;
    char *text = NULL;
    long size;
    cJSON *tree, *event;
    double sum = 0;
    if (!f || fseek(f, 0, SEEK_END) || (size = ftell(f)) < 0 || fseek(f, 0, SEEK_SET) ||
        !(text = malloc((size_t)size + 1)) || fread(text, 1, (size_t)size, f) != (size_t)size)
        return 3;
    tree = cJSON_ParseWithLength(text, (size_t)size);
    cJSON_ArrayForEach(event, cJSON_GetObjectItem(tree, "traceEvents"))
    {
        const cJSON *dur = cJSON_GetObjectItem(event, "dur");
        sum += dur ? dur->valuedouble : 0;
    }
    printf("%.3f us\n", sum);
    cJSON_Delete(tree);
    free(text);
    (void)fclose(f);
    return tree ? 0 : 3;
}
