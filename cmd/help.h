#ifndef TG_CMD_HELP_H
#define TG_CMD_HELP_H
/*
 * Everything that is said about the commands, made from their tables: --help, the manual page
 * (roff), completion for bash, zsh and fish. `about` texts are paragraphs separated by an empty
 * line; lines that begin with two blanks are kept as they are.
 */
#include "cmd/cmd.h"
#include "core/base/buf.h"

void tg_help_overview(struct tg_buf *out, const struct tg_cmd *const *commands, int columns);
/* Of one action, if the command has one of that name: its own usage, text and options. */
void tg_help_command(struct tg_buf *out, const struct tg_cmd *cmd, const char *action, int columns);
void tg_help_man(struct tg_buf *out, const struct tg_cmd *const *commands);
void tg_help_bash(struct tg_buf *out, const struct tg_cmd *const *commands);
void tg_help_zsh(struct tg_buf *out, const struct tg_cmd *const *commands);
void tg_help_fish(struct tg_buf *out, const struct tg_cmd *const *commands);
#endif
