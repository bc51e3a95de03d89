#include "core/summary/pack.h"

void tg_pack_u64(struct tg_buf *b, uint64_t v)
{
    char *to = tg_buf_room(b, TG_PACKED_MOST), *end = tg_pack_at(to, v);
    *end = '\0';
    b->n += (size_t)(end - to);
}

void tg_pack_i64(struct tg_buf *b, int64_t v)
{
    tg_pack_u64(b, ((uint64_t)v << 1) ^ (v < 0 ? UINT64_MAX : 0));
}

uint64_t tg_unpack_long(struct tg_unpack *u)
{
    uint64_t v = 0;
    for (unsigned shift = 0; u->p < u->end && shift < 64; shift += 7) {
        unsigned char c = (unsigned char)*u->p++;
        uint64_t bits = c & 0x7f;
        if (shift == 63 && bits > 1)
            break;
        v |= bits << shift;
        if (c < 0x80) {
            if (c == 0 && shift > 0)
                break; /* each number has exactly one form */
            return v;
        }
    }
    u->bad = true;
    u->p = u->end;
    return 0;
}

int64_t tg_unpack_i64(struct tg_unpack *u)
{
    uint64_t v = tg_unpack_u64(u);
    return (int64_t)((v >> 1) ^ (v & 1 ? UINT64_MAX : 0));
}

size_t tg_unpack_count(struct tg_unpack *u)
{
    uint64_t n = tg_unpack_u64(u);
    if (n <= tg_unpack_left(u))
        return (size_t)n;
    u->bad = true;
    u->p = u->end;
    return 0;
}

static const char alphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

void tg_base64_put(tg_sv in, struct tg_buf *out)
{
    char *to = tg_buf_room(out, in.n / 3 * 4 + 4);
    size_t n = 0;
    for (size_t i = 0; i < in.n; i += 3) {
        size_t have = in.n - i < 3 ? in.n - i : 3;
        uint32_t v = (uint32_t)(unsigned char)in.p[i] << 16;
        v |= have > 1 ? (uint32_t)(unsigned char)in.p[i + 1] << 8 : 0;
        v |= have > 2 ? (uint32_t)(unsigned char)in.p[i + 2] : 0;
        to[n++] = alphabet[v >> 18];
        to[n++] = alphabet[v >> 12 & 63];
        to[n++] = have > 1 ? alphabet[v >> 6 & 63] : '=';
        to[n++] = have > 2 ? alphabet[v & 63] : '=';
    }
    to[n] = '\0';
    out->n += n;
}

/* One more than the value of a digit; 0 for other bytes. */
static const unsigned char digits[256] = {
    ['A'] = 1,  ['B'] = 2,  ['C'] = 3,  ['D'] = 4,  ['E'] = 5,  ['F'] = 6,  ['G'] = 7,  ['H'] = 8,
    ['I'] = 9,  ['J'] = 10, ['K'] = 11, ['L'] = 12, ['M'] = 13, ['N'] = 14, ['O'] = 15, ['P'] = 16,
    ['Q'] = 17, ['R'] = 18, ['S'] = 19, ['T'] = 20, ['U'] = 21, ['V'] = 22, ['W'] = 23, ['X'] = 24,
    ['Y'] = 25, ['Z'] = 26, ['a'] = 27, ['b'] = 28, ['c'] = 29, ['d'] = 30, ['e'] = 31, ['f'] = 32,
    ['g'] = 33, ['h'] = 34, ['i'] = 35, ['j'] = 36, ['k'] = 37, ['l'] = 38, ['m'] = 39, ['n'] = 40,
    ['o'] = 41, ['p'] = 42, ['q'] = 43, ['r'] = 44, ['s'] = 45, ['t'] = 46, ['u'] = 47, ['v'] = 48,
    ['w'] = 49, ['x'] = 50, ['y'] = 51, ['z'] = 52, ['0'] = 53, ['1'] = 54, ['2'] = 55, ['3'] = 56,
    ['4'] = 57, ['5'] = 58, ['6'] = 59, ['7'] = 60, ['8'] = 61, ['9'] = 62, ['+'] = 63, ['/'] = 64,
};

bool tg_base64_get(tg_sv text, struct tg_buf *out)
{
    char *to = tg_buf_room(out, text.n / 4 * 3);
    size_t n = 0;
    if (text.n % 4)
        return false;
    for (size_t i = 0; i < text.n; i += 4) {
        bool last = i + 4 == text.n;
        int pad =
            last ? (text.p[i + 3] == '=') + (text.p[i + 3] == '=' && text.p[i + 2] == '=') : 0;
        uint32_t v = 0;
        for (int k = 0; k < 4; k++) {
            uint32_t d = k >= 4 - pad ? 1 : digits[(unsigned char)text.p[i + (size_t)k]];
            if (!d)
                return false;
            v = v << 6 | (d - 1);
        }
        if ((pad == 1 && v & 0xff) || (pad == 2 && v & 0xffff))
            return false;
        for (int k = 0; k < 3 - pad; k++)
            to[n++] = (char)(unsigned char)(v >> (16 - 8 * k));
    }
    to[n] = '\0';
    out->n += n;
    return true;
}

void tg_pack_text(tg_sv raw, enum tg_zlib_level level, struct tg_buf *out)
{
    TG_BUF packed = { 0 };
    tg_zlib_pack(raw, level, &packed);
    tg_buf_printf(out, "%zu:", raw.n);
    tg_base64_put(tg_buf_sv(&packed), out);
}

bool tg_unpack_text(tg_sv text, struct tg_buf *raw)
{
    TG_BUF packed = { 0 };
    tg_sv size_text = tg_sv_cut(&text, ':');
    int64_t size;
    return tg_sv_i64(size_text, &size) && size >= 0 && (uint64_t)size <= TG_PACK_MAX &&
           tg_base64_get(text, &packed) &&
           /* zlib cannot do better than 1032:1 */
           (size_t)size / 1100 <= packed.n && tg_zlib_unpack(tg_buf_sv(&packed), (size_t)size, raw);
}
