#ifndef TG_SETUP_TEMPLATES_H
#define TG_SETUP_TEMPLATES_H
/* The files of examples/ that `init` starts from, built in (cmake/embed.cmake). NUL-terminated. */
#include <stddef.h>

#define TG_TEMPLATE(name)                                                                          \
    extern const char tg_template_##name[];                                                        \
    extern const size_t tg_template_##name##_size

TG_TEMPLATE(bench);        /* examples/bench.py */
TG_TEMPLATE(server);       /* examples/bench_server.py */
TG_TEMPLATE(launch);       /* examples/bench_launch.py */
TG_TEMPLATE(tests);        /* examples/test_performance.py */
TG_TEMPLATE(ab);           /* examples/workflows/ab.yml */
TG_TEMPLATE(monorepo);     /* examples/workflows/monorepo.yml */
TG_TEMPLATE(pull_request); /* examples/workflows/pull-request.yml */
TG_TEMPLATE(record);       /* examples/workflows/record.yml */
TG_TEMPLATE(nightly);      /* examples/workflows/nightly.yml */
TG_TEMPLATE(gitlab);       /* examples/gitlab-ab.yml */
TG_TEMPLATE(pytest);       /* examples/workflows/pytest.yml */
TG_TEMPLATE(buildkite);    /* examples/buildkite-ab.yml */
TG_TEMPLATE(slurm);        /* examples/slurm-ab.sh */
#endif
