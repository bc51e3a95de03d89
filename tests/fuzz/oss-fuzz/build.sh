#!/bin/bash -eu
# Each target of tests/fuzz with its corpus, linked by the engine that OSS-Fuzz gives.
cmake -S . -B "$WORK/build" -G Ninja -DCMAKE_BUILD_TYPE=RelWithDebInfo -DTG_FUZZ=ON -DTG_FUZZ_ENGINE="$LIB_FUZZING_ENGINE"
for source in tests/fuzz/fuzz_*.c; do
    name=$(basename "$source" .c)
    ninja -C "$WORK/build" "tests/$name"
    cp "$WORK/build/tests/$name" "$OUT/"
    (cd "tests/fuzz/corpus/${name#fuzz_}" && zip -qr "$OUT/${name}_seed_corpus.zip" .)
done
