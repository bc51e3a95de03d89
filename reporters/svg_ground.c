#include "reporters/svg_ground.h"

#include <math.h>

void tg_svg_open(struct tg_buf *out, size_t width, size_t height, const char *more)
{
    tg_buf_printf(out,
                  "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%zu\" height=\"%zu\" "
                  "viewBox=\"0 0 %zu %zu\" role=\"img\"%s>\n",
                  width, height, width, height, more);
}

double tg_svg_step(double range, int steps)
{
    double raw = range / steps, power = pow(10, floor(log10(raw))), lead = raw / power;
    return power * (lead <= 1 ? 1 : lead <= 2 ? 2 : lead <= 5 ? 5 : 10);
}
