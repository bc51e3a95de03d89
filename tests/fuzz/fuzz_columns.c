#include <stdint.h>
#include <stdlib.h>

#include "core/summary/pack.h"
#include "core/summary/summary.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/*
 * The packed numbers behind zlib and base64, which a fuzzer of the text hardly gets through: the
 * first byte says how long the columns are, in 1/256 of the input; the rest are slots. The hash
 * does not fit, so nothing may be taken; nothing may crash or take memory out of proportion.
 */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char head[] =
        "{\"tracegate_summary\":1,\"shards\":[{\"run\":\"r\",\"hash\":\"0\",\"rank\":0,\"window\":"
        "\"auto\",\"classes\":\"\",\"marked\":true,\"truncated\":false,\"env\":{},\"steps\":[[0,0,"
        "9],["
        "1,9,20]],\"measures\":{";
    static const char tail[] =
        "},\"counters\":{\"events\":0,\"spans\":0,\"device_spans\":0,\"unlinked\":0,\"unassigned\":"
        "0,"
        "\"leniencies\":0,\"device_time\":0,\"classified_by_fallback\":0,\"negative_durations\":0,"
        "\"zero_kernels\":0,\"unmatched_begin\":0,\"unmatched_end\":0,\"overlapping\":0,"
        "\"overlapping_ns\":0,\"longer_than_step\":0,\"unlinked_rows\":0},\"hints\":[],\"texts\":"
        "[\"\",\"a\",\"cpu_op\",\"kernel\"],\"columns\":\"";
    struct tg_buf text = { 0 };
    struct tg_summary s;
    struct tg_err err;
    size_t cut = size ? (size - 1) * data[0] / 255 : 0;
    tg_err_init(&err);
    tg_buf_puts(&text, head);
    for (int m = 0; m < TG_MEASURES; m++)
        tg_buf_printf(&text, "%s\"%s\":[null,null]", m ? "," : "",
                      tg_measure_info((enum tg_measure)m)->name);
    tg_buf_puts(&text, tail);
    tg_pack_text((tg_sv){ (const char *)data + (size ? 1 : 0), cut }, &text);
    tg_buf_puts(&text, "\",\"slots\":\"");
    tg_pack_text((tg_sv){ (const char *)data + (size ? 1 : 0) + cut, size ? size - 1 - cut : 0 },
                 &text);
    tg_buf_puts(&text, "\"}]}");
    tg_summary_init(&s);
    if (tg_summary_parse(&s, tg_buf_sv(&text), "fuzz", &err) || err.kind != TG_ERR_SUMMARY)
        abort();
    tg_summary_release(&s);
    tg_buf_release(&text);
    return 0;
}
