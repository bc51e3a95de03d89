#ifndef TG_REPORTERS_PAGE_ASSETS_H
#define TG_REPORTERS_PAGE_ASSETS_H
/* page.css and page.js of every page, report.* of check's, history.* of history's, compiled into
 * the program (cmake/embed.cmake). NUL-terminated. */
#include <stddef.h>

extern const char tg_page_css[];
extern const size_t tg_page_css_size;
extern const char tg_page_js[];
extern const size_t tg_page_js_size;
extern const char tg_history_css[];
extern const size_t tg_history_css_size;
extern const char tg_history_js[];
extern const size_t tg_history_js_size;
extern const char tg_report_css[];
extern const size_t tg_report_css_size;
extern const char tg_report_js[];
extern const size_t tg_report_js_size;
#endif
