#include "core/summary/pack.h"
#include "core/summary/summary.h"
#include "tests/fuzz/target.h"

/* As packed text, with what is around it. */
static void put(struct tg_buf *text, const char *before, tg_sv raw)
{
    tg_buf_puts(text, before);
    tg_pack_text(raw, TG_ZLIB_USUAL, text);
}

#define RAW(bytes) ((tg_sv){ bytes, sizeof bytes - 1 })

/* A document of one shard with two rows (an operator, a kernel), up to its pattern. */
static void put_head(struct tg_buf *text)
{
    tg_buf_printf(text, "{\"tracegate_summary\":%d", TG_SUMMARY_FORMAT);
    put(text, ",\"index\":\"", RAW("\x01\x03r\x00\x00\x00\x00\x00\x00\x00\x00\x00"));
    put(text, "\",\"texts\":[\"",
        RAW("\x00\x01"
            "a\x06"
            "cpu_op\x06kernel"));
    put(text, "\"],\"rows\":[\"", RAW("\x01\x02\x00\x01\x01\x01\x03\x00\x00\x0e"));
    put(text, "\"],\"attributes\":[\"", RAW("\x01\x02\x01"));
    tg_buf_puts(
        text,
        "\"],\"shards\":[\n{\"run\":\"r\",\"hash\":\"0000000000000000\",\"rank\":0,\"window\":"
        "\"auto\",\"classes\":\"\",\"marked\":true,\"truncated\":false,\"env\":{},\"steps\":"
        "[[0,0,9],[1,9,20]],\"measures\":{");
    for (int m = 0; m < TG_METRICS; m++)
        tg_buf_printf(text, "%s\"%s\":[null,null]", m ? "," : "",
                      tg_metric_info((enum tg_metric)m)->name);
    tg_buf_puts(text,
                "},\"counters\":{\"events\":0,\"spans\":0,\"device_spans\":0,\"unlinked\":0,"
                "\"unassigned\":0,\"leniencies\":0,\"device_time\":0,\"classified_by_fallback\":0,"
                "\"negative_durations\":0,\"zero_kernels\":0,\"unmatched_begin\":0,"
                "\"unmatched_end\":0,\"overlapping\":0,\"overlapping_ns\":0,\"longer_than_step\":0,"
                "\"unlinked_rows\":0,\"lost_kernels\":0,\"invalid_escapes\":0,\"control_bytes\":0,"
                "\"bad_utf8\":0,\"non_finite\":0,\"huge_integers\":0},\"hints\":[],");
    put(text, "\"rows\":\"", RAW("\x02\x00\x00\x00\x01\x00"));
}

/*
 * The packed numbers under zlib and base64, which a fuzzer of the text hardly gets through: the
 * first byte says how long the pattern is, in 1/256 of the input; the rest are values. The hash
 * does not fit, so nothing may be taken; nothing may crash or take memory out of proportion.
 */
FUZZ_TARGET(1)
{
    TG_BUF text = { 0 };
    TG_AUTO(tg_summary_release) struct tg_summary s;
    struct tg_err err = TG_ERR_INIT;
    size_t cut = bytes.n * choice[0] / 255;
    put_head(&text);
    put(&text, "\",\"pattern\":\"", (tg_sv){ bytes.p, cut });
    put(&text, "\",\"values\":\"", (tg_sv){ bytes.p + cut, bytes.n - cut });
    tg_buf_puts(&text, "\"}\n]}\n");
    tg_summary_init(&s);
    abort_if(tg_summary_parse(&s, tg_buf_sv(&text), "fuzz", &err) || err.kind != TG_ERR_SUMMARY);
}
