#ifndef TG_SETUP_TEMPLATES_H
#define TG_SETUP_TEMPLATES_H
/* The files of examples/ that `init` starts from, built in (cmake/embed.cmake). NUL-terminated. */
#include <stddef.h>

extern const char tg_template_bench[]; /* examples/bench.py */
extern const size_t tg_template_bench_size;
extern const char tg_template_server[]; /* examples/bench_server.py */
extern const size_t tg_template_server_size;
extern const char tg_template_launch[]; /* examples/bench_launch.py */
extern const size_t tg_template_launch_size;
extern const char tg_template_tests[]; /* examples/test_performance.py */
extern const size_t tg_template_tests_size;
extern const char tg_template_ab[]; /* examples/workflows/ab.yml */
extern const size_t tg_template_ab_size;
extern const char tg_template_monorepo[]; /* examples/workflows/monorepo.yml */
extern const size_t tg_template_monorepo_size;
extern const char tg_template_pull_request[]; /* examples/workflows/pull-request.yml */
extern const size_t tg_template_pull_request_size;
extern const char tg_template_record[]; /* examples/workflows/record.yml */
extern const size_t tg_template_record_size;
extern const char tg_template_nightly[]; /* examples/workflows/nightly.yml */
extern const size_t tg_template_nightly_size;
extern const char tg_template_gitlab[]; /* examples/gitlab-ab.yml */
extern const size_t tg_template_gitlab_size;
extern const char tg_template_pytest[]; /* examples/workflows/pytest.yml */
extern const size_t tg_template_pytest_size;
extern const char tg_template_buildkite[]; /* examples/buildkite-ab.yml */
extern const size_t tg_template_buildkite_size;
extern const char tg_template_slurm[]; /* examples/slurm-ab.sh */
extern const size_t tg_template_slurm_size;
#endif
