// The anchor of docs/benchmarks.md: per (category, name) count and total duration with simdjson's
// On-Demand interface. Debian: libsimdjson-dev. anchor_simdjson FILE [all|stage1]; "all" also reads
// pid, tid, ts and args as text, "stage1" makes the structural index alone and answers nothing.
//   c++ -O3 -std=c++17 anchor_simdjson.cpp -lsimdjson -o anchor_simdjson
#include <cstdint>
#include <cstdio>
#include <memory>
#include <simdjson.h>
#include <string>
#include <string_view>
#include <unordered_map>

using namespace simdjson;

struct total {
    uint64_t count = 0;
    double us = 0;
};

int main(int argc, char **argv)
{
    if (argc < 2)
        return 2;
    bool all = argc > 2 && argv[2][0] == 'a';
    uint64_t sum = 0;
    auto text = padded_string::load(argv[1]);
    if (text.error())
        return 3;
    if (argc > 2 && argv[2][0] == 's') {
        std::unique_ptr<internal::dom_parser_implementation> stage;
        const auto &json = text.value_unsafe();
        if (get_active_implementation()->create_dom_parser_implementation(json.size(), 1024, stage) ||
            stage->stage1((const uint8_t *)json.data(), json.size(), stage1_mode::regular))
            return 3;
        printf("%u structurals\n", stage->n_structural_indexes);
        return 0;
    }
    std::unordered_map<std::string, total> totals;
    std::string key;
    ondemand::parser parser;
    ondemand::document doc = parser.iterate(text.value_unsafe());
    for (ondemand::object event : doc["traceEvents"].get_array()) {
        std::string_view cat, name;
        double dur = -1;
        for (auto field : event) {
            std::string_view k = field.unescaped_key();
            ondemand::value v = field.value();
            if (k == "cat")
                cat = v.get_string();
            else if (k == "name")
                name = v.get_string();
            else if (k == "dur")
                dur = v.get_double();
            else if (all && k == "ts")
                sum += (uint64_t)v.get_double().value();
            else if (all && (k == "pid" || k == "tid"))
                sum += v.raw_json_token().size();
            else if (all && k == "args")
                sum += v.get_object().value().raw_json().value().size();
        }
        if (dur < 0)
            continue;
        key.assign(cat).append(1, '\0').append(name);
        total &t = totals[key];
        t.count++;
        t.us += dur;
    }
    printf("%zu names %llu\n", totals.size(), (unsigned long long)sum);
    return 0;
}
