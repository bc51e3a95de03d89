// An anchor of docs/benchmarks.md: per (category, name) count and total duration with RapidJSON's SAX
// reader, in a window of 64 KiB. Debian: rapidjson-dev. anchor_rapidjson FILE
#include <cstdint>
#include <cstdio>
#include <rapidjson/filereadstream.h>
#include <rapidjson/reader.h>
#include <string>
#include <unordered_map>

struct total {
    uint64_t count = 0;
    double us = 0;
};

// Events are the objects two levels down.
struct handler : rapidjson::BaseReaderHandler<rapidjson::UTF8<>, handler> {
    std::unordered_map<std::string, total> totals;
    std::string key, cat, name, both;
    double dur = -1;
    int depth = 0;

    bool Key(const char *s, rapidjson::SizeType n, bool)
    {
        if (depth == 3)
            key.assign(s, n);
        return true;
    }
    bool String(const char *s, rapidjson::SizeType n, bool)
    {
        if (depth == 3 && key == "cat")
            cat.assign(s, n);
        else if (depth == 3 && key == "name")
            name.assign(s, n);
        return true;
    }
    bool number(double v)
    {
        if (depth == 3 && key == "dur")
            dur = v;
        return true;
    }
    bool Int(int v) { return number(v); }
    bool Uint(unsigned v) { return number(v); }
    bool Int64(int64_t v) { return number((double)v); }
    bool Uint64(uint64_t v) { return number((double)v); }
    bool Double(double v) { return number(v); }
    bool StartArray() { return ++depth > 0; }
    bool EndArray(rapidjson::SizeType) { return depth-- > 0; }
    bool StartObject()
    {
        if (++depth == 3) {
            cat.clear();
            name.clear();
            dur = -1;
        }
        return true;
    }
    bool EndObject(rapidjson::SizeType)
    {
        if (depth-- == 3 && dur >= 0) {
            both.assign(cat).append(1, '\0').append(name);
            total &t = totals[both];
            t.count++;
            t.us += dur;
        }
        return true;
    }
};

int main(int argc, char **argv)
{
    static char buffer[65536];
    FILE *f = argc > 1 ? fopen(argv[1], "rb") : nullptr;
    if (!f)
        return 3;
    rapidjson::FileReadStream in(f, buffer, sizeof buffer);
    rapidjson::Reader reader;
    handler h;
    bool ok = !reader.Parse<rapidjson::kParseFullPrecisionFlag | rapidjson::kParseValidateEncodingFlag>(in, h).IsError();
    printf("%zu names\n", h.totals.size());
    fclose(f);
    return ok ? 0 : 3;
}
