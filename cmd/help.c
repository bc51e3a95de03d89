#include "cmd/help.h"

#include "cmd/options.h"
#include "core/base/utf8.h"
#include "reporters/escape.h"

struct exit_row {
    const char *code, *meaning;
};
static const struct exit_row exit_rows[] = {
    { "0", "pass, warn, or the first run: nothing failed; other commands: done" },
    { "1", "fail: a rule of the policy failed" },
    { "2", "bad policy or command line, or a ref that does not exist" },
    { "3", "unusable input: trace, baseline, repository, shallow history" },
    { "4", "inconclusive: nothing could be judged, or the baseline is lost" },
    { "5", "internal error, or output could not be written" },
    { "6", "ab: the command changed what decides about it" },
    { NULL, NULL },
};
static const struct exit_row environment_rows[] = {
    { "NO_COLOR", "not empty: no colour" },
    { "CLICOLOR_FORCE, FORCE_COLOR", "not empty and not 0: colour without a terminal" },
    { "COLUMNS", "width of texts when it is a number from 40 to 1000" },
    { NULL, NULL },
};
/* What a command is for, and how it is called. Run as they are by e2e_help. */
enum group { GROUP_SET_UP, GROUP_JUDGE, GROUP_LOOK, GROUP_FILES, GROUPS };
static const char *const group_names[GROUPS] = { "set up", "judge", "look", "files and help" };
static const struct page {
    enum group group;
    const char *example[2]; /* the first word is the command */
} pages[] = {
    { GROUP_SET_UP, { "init", "init out/*.json.gz --store --nightly" } },
    { GROUP_SET_UP, { "policy lint out/run0.json.gz", "policy explain aten::mm out/*.json.gz" } },
    { GROUP_SET_UP, { "selftest out/*.json.gz", "selftest --suite train --format json" } },
    { GROUP_SET_UP, { "calibrate base/*.json.gz", "calibrate base/*.json.gz --format yaml" } },
    { GROUP_JUDGE,
      { "check out/*.json.gz --runs --baseline origin/main:perf --markdown comment.md",
        "check --suite train --junit gate.xml" } },
    { GROUP_JUDGE,
      { "ab --base origin/main -- python3 bench.py --trace {trace}",
        "ab --base origin/main --detect 10% --budget 5min -- python3 bench.py --trace {trace}" } },
    { GROUP_JUDGE, { "baseline record out/*.json.gz --runs", "baseline list" } },
    { GROUP_JUDGE, { "history", "history --format json" } },
    { GROUP_JUDGE,
      { "bisect --good v1.4.0 -- python3 bench.py --trace {trace}",
        "bisect --good v1.4.0 --bad HEAD~3 -- python3 bench.py --trace {trace}" } },
    { GROUP_LOOK,
      { "diff origin/main:perf out --runs", "diff perf/run0.json.gz out/run0.json.gz --top 5" } },
    { GROUP_LOOK,
      { "analyze out/run0.json.gz --top 10",
        "analyze out/run0.json.gz --measure steps --format csv" } },
    { GROUP_LOOK, { "names out/run0.json.gz", "names out/*.json.gz --format csv" } },
    { GROUP_FILES,
      { "summarize out/run0.json.gz -o run0.tgs",
        "summarize out/run0.json.gz --window annotation:'aten::mm' -o run0.tgs" } },
    { GROUP_FILES, { "merge run0.tgs run1.tgs -o runs.tgs", "merge *.tgs -o all.tgs" } },
    { GROUP_FILES, { "help check", "help --completion bash" } },
};

static const struct page *page_of(const char *command)
{
    for (size_t i = 0; i < sizeof pages / sizeof *pages; i++) {
        tg_sv words = tg_sv_of(pages[i].example[0]);
        if (tg_sv_eq(tg_sv_cut(&words, ' '), tg_sv_of(command)))
            return &pages[i];
    }
    return NULL;
}

static const char one_line[] = "compare PyTorch profiler traces and stop what got slower";

/* Appends `text` wrapped to `columns`, every line after `indent` blanks; the first is there. */
static void wrap(struct tg_buf *out, tg_sv text, int indent, int at, int columns)
{
    bool first = true;
    while (text.n) {
        tg_sv word = tg_sv_cut(&text, ' ');
        if (!first && at + 1 + (int)word.n > columns) {
            tg_buf_printf(out, "\n%*s", indent, "");
            at = indent;
            first = true;
        }
        tg_buf_printf(out, "%s%.*s", first ? "" : " ", TG_SV_ARG(word));
        at += (int)word.n + (first ? 0 : 1);
        first = false;
    }
    tg_buf_putc(out, '\n');
}

/* A line of a paragraph, a kept line, or the end of a paragraph. */
enum line_kind { LINE_TEXT, LINE_KEPT, LINE_BREAK };
static enum line_kind next_line(tg_sv *text, tg_sv *line)
{
    *line = tg_sv_cut(text, '\n');
    if (!line->n)
        return LINE_BREAK;
    return tg_sv_starts(*line, TG_SV("  ")) ? LINE_KEPT : LINE_TEXT;
}

static void about_text(struct tg_buf *out, const char *about, int columns)
{
    tg_sv text = tg_sv_of(about), line;
    while (text.n) {
        if (next_line(&text, &line) == LINE_TEXT)
            wrap(out, line, 0, 0, columns);
        else
            tg_buf_printf(out, "%.*s\n", TG_SV_ARG(line));
    }
}

/* More words than a line holds: they follow the text. */
static bool is_long(const struct tg_opt *o)
{
    return o->value && strlen(o->value) > 60;
}

/* Which options are listed: of one action (NULL: of all), and those for scripts or the others. */
struct listed {
    const struct tg_cmd *cmd;
    const struct tg_verb *verb;
    bool for_scripts;
};

static bool is_listed(const struct listed *l, const struct tg_opt *o)
{
    return (!l->verb || tg_options_has(l->verb->options, o->name)) &&
           l->for_scripts == tg_options_has(l->cmd->for_scripts, o->name);
}

/* "record, show" at the begin of "record, show: the commit": are these actions, and `verb` among
 * them? */
static bool is_of_verbs(const struct listed *l, tg_sv names, bool *has)
{
    *has = false;
    while (names.n) {
        tg_sv one = tg_sv_cut(&names, ',');
        const struct tg_verb *v = l->cmd->verbs;
        while (v && v->name && !tg_sv_eq(tg_sv_of(v->name), one))
            v++;
        if (!v || !v->name)
            return false;
        *has |= v == l->verb;
        tg_sv_skip(&names, TG_SV(" "));
    }
    return true;
}

static void option_text(struct tg_buf *out, const struct listed *l, const struct tg_opt *o)
{
    if (l->verb) {
        /* Of "record, show: the commit; fetch: where it begins" what is said of the action. */
        tg_sv text = tg_sv_of(o->help);
        bool said = true, any = false, has;
        while (text.n) {
            const char *end = memmem(text.p, text.n, "; ", 2);
            tg_sv part = { text.p, end ? (size_t)(end - text.p) : text.n }, rest = part;
            tg_sv names = tg_sv_cut(&rest, ':');
            text = end ? tg_sv_from(text, part.n + 2) : TG_SV("");
            if (rest.n && is_of_verbs(l, names, &has)) {
                said = has;
                part = tg_sv_from(rest, 1);
            }
            if (!said)
                continue;
            tg_buf_printf(out, "%s%.*s", any ? "; " : "", TG_SV_ARG(part));
            any = true;
        }
    } else {
        tg_buf_puts(out, o->help);
    }
    if (is_long(o))
        tg_buf_puts(out, ": ");
    for (const char *p = is_long(o) ? o->value : ""; *p; p++)
        tg_buf_printf(out, "%.*s", *p == '|' ? 2 : 1, *p == '|' ? ", " : p);
}

/* The one short form. */
static const char *short_of(const struct tg_opt *o)
{
    return strcmp(o->name, "out") == 0 ? "-o, " : "";
}

static void option_lines(struct tg_buf *out, const struct listed *l, const struct tg_opt *o,
                         int columns)
{
    const int indent = 26;
    for (; o && o->name; o++) {
        TG_BUF head = { 0 };
        if (l->cmd && !is_listed(l, o))
            continue;
        /* "--format text|csv|json", "-o, --out FILE". */
        tg_buf_printf(&head, "%s--%s", short_of(o), o->name);
        if (o->value)
            tg_buf_printf(&head, " %s", is_long(o) ? "NAME" : o->value);
        tg_buf_printf(out, "  %s", head.p);
        if ((int)head.n + 4 > indent)
            tg_buf_printf(out, "\n%*s", indent, "");
        else
            tg_buf_printf(out, "%*s", indent - 2 - (int)head.n, "");
        tg_buf_clear(&head);
        option_text(&head, l, o);
        wrap(out, tg_buf_sv(&head), indent, indent, columns);
    }
}

static int width_of(int columns)
{
    if (columns <= 0 || columns > 100)
        return 100;
    return columns < 40 ? 40 : columns;
}

void tg_help_overview(struct tg_buf *out, const struct tg_cmd *const *commands, int columns)
{
    int width = width_of(columns);
    tg_buf_printf(out, "tracegate: %s\n\nusage: tracegate COMMAND [options]\n\n", one_line);
    for (enum group g = GROUP_SET_UP; g < GROUPS; g++) {
        tg_buf_printf(out, "%s%s\n", g ? "\n" : "", group_names[g]);
        for (const struct tg_cmd *const *c = commands; *c; c++) {
            const struct page *page = page_of((*c)->name);
            if ((page ? page->group : GROUP_FILES) != g)
                continue;
            tg_buf_printf(out, "  %-12s", (*c)->name);
            wrap(out, tg_sv_of((*c)->summary), 14, 14, width);
        }
    }
    tg_buf_puts(out, "\nstart here\n"
                     "  tracegate init                              a gate for this repository\n"
                     "  tracegate diff BEFORE AFTER --runs          what changed between two "
                     "folders of traces\n");
    tg_buf_puts(out, "\ntracegate COMMAND --help explains a command; --version tells the "
                     "version.\n\nexit codes\n");
    for (const struct exit_row *r = exit_rows; r->code; r++) {
        tg_buf_printf(out, "  %s  ", r->code);
        wrap(out, tg_sv_of(r->meaning), 5, 5, width);
    }
}

static const struct listed everywhere = { .cmd = NULL };

static void help_of_verb(struct tg_buf *out, const struct tg_cmd *cmd, const struct tg_verb *verb,
                         int width)
{
    const struct listed its = { .cmd = cmd, .verb = verb };
    tg_buf_printf(out, "usage: tracegate %s %s%s%s [options]\n\n", cmd->name, verb->name,
                  *verb->synopsis ? " " : "", verb->synopsis);
    tg_buf_putc(out,
                (char)(verb->about[0] - ('a' - 'A'))); /* all begin with a verb, in lower case */
    about_text(out, verb->about + 1, width);
    tg_buf_puts(out, "\noptions\n");
    option_lines(out, &its, cmd->options, width);
    option_lines(out, &everywhere, tg_global_options, width);
}

void tg_help_command(struct tg_buf *out, const struct tg_cmd *cmd, const char *action, int columns)
{
    int width = width_of(columns);
    const struct tg_verb *verb = action ? tg_verb_find(cmd, action) : NULL;
    if (verb) {
        help_of_verb(out, cmd, verb, width);
        return;
    }
    const struct page *page = page_of(cmd->name);
    const struct listed all = { .cmd = cmd }, scripts = { .cmd = cmd, .for_scripts = true };
    tg_buf_printf(out, "usage: tracegate %s %s\n\n", cmd->name, cmd->synopsis);
    about_text(out, cmd->about, width);
    if (cmd->verbs) {
        tg_buf_puts(out, "\nactions\n");
        for (const struct tg_verb *v = cmd->verbs; v->name; v++) {
            tg_buf_printf(out, "  %-10s  ", v->name);
            wrap(out, tg_sv_of(v->about), 14, 14, width);
        }
        tg_buf_printf(out, "\ntracegate %s ACTION --help has the options of one.\n", cmd->name);
    }
    if (page)
        tg_buf_printf(out, "\nexamples\n  tracegate %s\n  tracegate %s\n", page->example[0],
                      page->example[1]);
    tg_buf_puts(out, "\noptions\n");
    option_lines(out, &all, cmd->options, width);
    option_lines(out, &everywhere, tg_global_options, width);
    if (!cmd->for_scripts)
        return;
    tg_buf_puts(out, "\nfor scripts\n");
    option_lines(out, &scripts, cmd->options, width);
}

/* roff: '-' is a hyphen unless escaped, a leading '.' or ''' would be a request. */
static void roff(struct tg_buf *out, tg_sv s)
{
    for (size_t i = 0; i < s.n; i++) {
        if (i == 0 && (s.p[0] == '.' || s.p[0] == '\''))
            tg_buf_puts(out, "\\&");
        if (s.p[i] == '\\')
            tg_buf_puts(out, "\\e");
        else if (s.p[i] == '-')
            tg_buf_puts(out, "\\-");
        else if ((unsigned char)s.p[i] >= 0x80) { /* "\[u2026]"; our own texts: valid UTF-8 */
            size_t n = tg_utf8_len(tg_sv_from(s, i));
            tg_buf_printf(out, "\\[u%04X]", tg_utf8_code(tg_sv_from(s, i), n));
            i += n - 1;
        } else
            tg_buf_putc(out, s.p[i]);
    }
}

static void roff_about(struct tg_buf *out, const char *about)
{
    tg_sv text = tg_sv_of(about), line;
    bool kept = false;
    while (text.n) {
        enum line_kind k = next_line(&text, &line);
        if ((k == LINE_KEPT) != kept) {
            tg_buf_puts(out, k == LINE_KEPT ? ".EX\n" : ".EE\n");
            kept = k == LINE_KEPT;
        }
        if (k != LINE_BREAK)
            TG_PUT(out, roff, "{}\n", line);
        else if (text.n)
            tg_buf_puts(out, ".PP\n");
    }
    if (kept)
        tg_buf_puts(out, ".EE\n");
}

static void roff_options(struct tg_buf *out, const struct listed *l, const struct tg_opt *o)
{
    for (; o && o->name; o++) {
        if (l->cmd && !is_listed(l, o))
            continue;
        TG_PUT(out, roff, ".TP\n.B {}{}{}", tg_sv_of(short_of(o)), TG_SV("--"), tg_sv_of(o->name));
        if (o->value)
            TG_PUT(out, roff, " \\fI{}\\fR", tg_sv_of(is_long(o) ? "NAME" : o->value));
        TG_BUF text = { 0 };
        option_text(&text, l, o);
        TG_PUT(out, roff, "\n{}\n", tg_buf_sv(&text));
    }
}

static void roff_rows(struct tg_buf *out, const struct exit_row *r)
{
    for (; r->code; r++)
        TG_PUT(out, roff, ".TP\n.B {}\n{}\n", tg_sv_of(r->code), tg_sv_of(r->meaning));
}

void tg_help_man(struct tg_buf *out, const struct tg_cmd *const *commands)
{
    TG_PUT(out, roff,
           ".\\\" made by `tracegate help --man` from the option tables in cmd/\n"
           ".TH TRACEGATE 1 \"\" \"tracegate " TG_VERSION "\" \"User Commands\"\n"
           ".SH NAME\ntracegate \\- {}\n.SH SYNOPSIS\n",
           tg_sv_of(one_line));
    for (const struct tg_cmd *const *c = commands; *c; c++) {
        tg_buf_printf(out, "%s.B tracegate %s\n", c == commands ? "" : ".br\n", (*c)->name);
        TG_PUT(out, roff, "{}\n", tg_sv_of((*c)->synopsis));
    }
    tg_buf_puts(out, ".SH COMMANDS\n");
    for (; *commands; commands++) {
        tg_buf_printf(out, ".SS tracegate %s \\- ", (*commands)->name);
        TG_PUT(out, roff, "{}\n", tg_sv_of((*commands)->summary));
        const struct listed all = { .cmd = *commands },
                            scripts = { .cmd = *commands, .for_scripts = true };
        roff_about(out, (*commands)->about);
        for (const struct tg_verb *v = (*commands)->verbs; v && v->name; v++) {
            tg_buf_printf(out, ".TP\n.B %s%s", v->name, *v->synopsis ? " " : "");
            TG_PUT(out, roff, "{}\n{}\n", tg_sv_of(v->synopsis), tg_sv_of(v->about));
        }
        const struct page *page = page_of((*commands)->name);
        if (page)
            TG_PUT(out, roff, ".EX\n  tracegate {}\n  tracegate {}\n.EE\n",
                   tg_sv_of(page->example[0]), tg_sv_of(page->example[1]));
        roff_options(out, &all, (*commands)->options);
        if (!(*commands)->for_scripts)
            continue;
        tg_buf_puts(out, ".PP\nFor scripts:\n");
        roff_options(out, &scripts, (*commands)->options);
    }
    tg_buf_puts(out, ".SH COMMON OPTIONS\n");
    roff_options(out, &everywhere, tg_global_options);
    tg_buf_puts(out, ".SH EXIT STATUS\n");
    roff_rows(out, exit_rows);
    tg_buf_puts(out, ".SH ENVIRONMENT\n");
    roff_rows(out, environment_rows);
}

static void option_words(struct tg_buf *out, const struct tg_opt *o)
{
    for (; o && o->name; o++)
        tg_buf_printf(out, "--%s ", o->name);
}

/* "a|b" -> "a b" */
static void choice_words(struct tg_buf *out, tg_sv value)
{
    for (size_t i = 0; i < value.n; i++)
        tg_buf_putc(out, value.p[i] == '|' ? ' ' : value.p[i]);
}

/* Names that only the policy has: what `help --completion` prints of them; NULL: others. */
static const char *names_of(const struct tg_opt *o)
{
    return strcmp(o->name, "suite") == 0     ? "suites"
           : strcmp(o->name, "profile") == 0 ? "profiles"
                                             : NULL;
}

static void bash_choices(struct tg_buf *out, const char *command, const struct tg_opt *o)
{
    for (; o && o->name; o++) {
        if (names_of(o))
            tg_buf_printf(out,
                          "    %s:--%s) COMPREPLY=( $(compgen -W \"$(tracegate help --completion "
                          "%s 2>/dev/null)\" -- \"$cur\") ); return ;;\n",
                          command, o->name, names_of(o));
        if (!tg_opt_is_choice(o))
            continue;
        tg_buf_printf(out, "    %s:--%s) COMPREPLY=( $(compgen -W '", command, o->name);
        TG_PUT(out, choice_words, "{}' -- \"$cur\") ); return ;;\n", tg_sv_of(o->value));
    }
}

static void verb_words(struct tg_buf *out, const struct tg_cmd *cmd)
{
    for (const struct tg_verb *v = cmd->verbs; v && v->name; v++)
        tg_buf_printf(out, "%s ", v->name);
}

void tg_help_bash(struct tg_buf *out, const struct tg_cmd *const *commands)
{
    tg_buf_puts(out,
                "# made by `tracegate help --completion bash`\n"
                "_tracegate() {\n"
                "  local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} words=\n"
                "  local cmd=${COMP_WORDS[1]}\n"
                "  COMPREPLY=()\n"
                "  if [ \"$COMP_CWORD\" -eq 1 ]; then\n"
                "    COMPREPLY=( $(compgen -W '");
    for (const struct tg_cmd *const *c = commands; *c; c++)
        tg_buf_printf(out, "%s ", (*c)->name);
    tg_buf_puts(out, "--help --version' -- \"$cur\") )\n    return\n  fi\n"
                     "  case $cmd:$prev in\n");
    for (const struct tg_cmd *const *c = commands; *c; c++)
        bash_choices(out, (*c)->name, (*c)->options);
    bash_choices(out, "*", tg_global_options);
    tg_buf_puts(out, "  esac\n  case $cmd in\n");
    for (const struct tg_cmd *const *c = commands; *c; c++) {
        tg_buf_printf(out, "    %s) words='", (*c)->name);
        option_words(out, (*c)->options);
        option_words(out, tg_global_options);
        tg_buf_puts(out, "' ;;\n");
    }
    tg_buf_puts(out, "  esac\n  if [ \"$COMP_CWORD\" -eq 2 ]; then\n    case $cmd in\n");
    for (const struct tg_cmd *const *c = commands; *c; c++) {
        TG_BUF verbs = { 0 };
        verb_words(&verbs, *c);
        if (verbs.n)
            tg_buf_printf(out, "      %s) COMPREPLY=( $(compgen -W '%s' -- \"$cur\") ) ;;\n",
                          (*c)->name, verbs.p);
    }
    tg_buf_puts(out, "    esac\n    [ ${#COMPREPLY[@]} -eq 0 ] || return\n  fi\n"
                     "  case $cur in\n"
                     "    -*) COMPREPLY=( $(compgen -W \"$words\" -- \"$cur\") ) ;;\n"
                     "    *) COMPREPLY=( $(compgen -f -- \"$cur\") ) ;;\n"
                     "  esac\n"
                     "}\n"
                     "complete -o filenames -F _tracegate tracegate\n");
}

/* Text inside '…'. */
static void fish_text(struct tg_buf *out, tg_sv s)
{
    for (size_t i = 0; i < s.n; i++)
        tg_buf_printf(out, s.p[i] == '\'' || s.p[i] == '\\' ? "\\%c" : "%c", s.p[i]);
}

static void fish_options(struct tg_buf *out, const char *when, const struct tg_opt *o)
{
    for (; o && o->name; o++) {
        tg_buf_printf(out, "complete -c tracegate%s -l %s", when, o->name);
        if (tg_opt_is_choice(o))
            TG_PUT(out, choice_words, " -x -a '{}'", tg_sv_of(o->value));
        else if (names_of(o))
            tg_buf_printf(out, " -x -a '(tracegate help --completion %s 2>/dev/null)'",
                          names_of(o));
        else if (o->value)
            tg_buf_puts(out, " -r");
        TG_PUT(out, fish_text, " -d '{}'\n", tg_sv_of(o->help));
    }
}

void tg_help_fish(struct tg_buf *out, const struct tg_cmd *const *commands)
{
    tg_buf_puts(out, "# made by `tracegate help --completion fish`\n");
    for (const struct tg_cmd *const *c = commands; *c; c++) {
        TG_BUF when = { 0 };
        TG_BUF verbs = { 0 };
        tg_buf_printf(out, "complete -c tracegate -f -n __fish_use_subcommand -a %s -d ",
                      (*c)->name);
        TG_PUT(out, fish_text, "'{}'\n", tg_sv_of((*c)->summary));
        tg_buf_printf(&when, " -n '__fish_seen_subcommand_from %s'", (*c)->name);
        fish_options(out, when.p, (*c)->options);
        verb_words(&verbs, *c);
        if (verbs.n)
            tg_buf_printf(out,
                          "complete -c tracegate -n '__fish_seen_subcommand_from %s; and not "
                          "__fish_seen_subcommand_from %s' -a '%s'\n",
                          (*c)->name, verbs.p, verbs.p);
    }
    fish_options(out, "", tg_global_options);
}

/* Text inside '…' and a [ ] description of _arguments. */
static void zsh_text(struct tg_buf *out, tg_sv s)
{
    for (size_t i = 0; i < s.n; i++)
        if (s.p[i] == '\'')
            tg_buf_puts(out, "'\\''");
        else
            tg_buf_printf(out, strchr("[]:\\", s.p[i]) ? "\\%c" : "%c", s.p[i]);
}

static void zsh_options(struct tg_buf *out, const struct tg_opt *o)
{
    for (; o && o->name; o++) {
        tg_buf_printf(out, "        '%s--%s[", o->type == TG_OPT_LIST ? "*" : "", o->name);
        TG_PUT(out, zsh_text, "{}]", tg_sv_of(o->help));
        if (o->value)
            TG_PUT(out, zsh_text, ":{}:", tg_sv_of(o->value));
        if (tg_opt_is_choice(o))
            TG_PUT(out, choice_words, "({})", tg_sv_of(o->value));
        else if (names_of(o))
            tg_buf_printf(out, " _tracegate_names %s", names_of(o));
        else if (o->value)
            tg_buf_puts(out, "_files");
        tg_buf_puts(out, "' \\\n");
    }
}

void tg_help_zsh(struct tg_buf *out, const struct tg_cmd *const *commands)
{
    tg_buf_puts(out, "#compdef tracegate\n# made by `tracegate help --completion zsh`\n"
                     "_tracegate_names() {\n"
                     "  local -a names=(${(f)\"$(tracegate help --completion $1 2>/dev/null)\"})\n"
                     "  compadd -a names\n}\n"
                     "_tracegate() {\n  local -a commands=(\n");
    for (const struct tg_cmd *const *c = commands; *c; c++) {
        tg_buf_printf(out, "    '%s:", (*c)->name);
        TG_PUT(out, zsh_text, "{}'\n", tg_sv_of((*c)->summary));
    }
    tg_buf_puts(out, "  )\n"
                     "  if (( CURRENT == 2 )); then\n"
                     "    _describe command commands\n    return\n  fi\n"
                     "  local cmd=$words[2]\n"
                     "  shift words; (( CURRENT-- ))\n"
                     "  case $cmd in\n");
    for (const struct tg_cmd *const *c = commands; *c; c++) {
        tg_buf_printf(out, "    %s)\n      _arguments \\\n", (*c)->name);
        zsh_options(out, (*c)->options);
        zsh_options(out, tg_global_options);
        TG_BUF verbs = { 0 };
        verb_words(&verbs, *c);
        if (verbs.n)
            tg_buf_printf(out, "        '1:command:(%s)' \\\n", verbs.p);
        tg_buf_puts(out, "        '*:file:_files' ;;\n");
    }
    tg_buf_puts(out, "  esac\n}\n_tracegate \"$@\"\n");
}
