/* An anchor of docs/benchmarks.md: zlib's inflate alone, output thrown away. anchor_inflate FILE */
#include <stdio.h>
#include <zlib.h>

int main(int argc, char **argv)
{
    static unsigned char in[65536], out[262144];
    z_stream z = { 0 };
    unsigned long sum = 0;
    int code = Z_OK;
    FILE *f = argc > 1 ? fopen(argv[1], "rb") : NULL;
    if (!f || inflateInit2(&z, 15 + 16) != Z_OK)
        return 3;
    while (code == Z_OK || code == Z_BUF_ERROR) {
        if (!z.avail_in) {
            z.next_in = in;
            z.avail_in = (unsigned)fread(in, 1, sizeof in, f);
            if (!z.avail_in)
                break;
        }
        z.next_out = out;
        z.avail_out = sizeof out;
        code = inflate(&z, Z_NO_FLUSH);
        sum += sizeof out - z.avail_out;
    }
    printf("%lu bytes\n", sum);
    (void)inflateEnd(&z);
    (void)fclose(f);
    return code == Z_STREAM_END ? 0 : 3;
}
