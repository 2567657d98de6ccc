/* A plugin as a process: the process protocol around the three functions of a plugin, linked together with it.
 *
 *   cc -O2 -I crates/mmascope-host/include -o unit examples/devices/process.c examples/devices/unit.c
 *   UNIT="F=30 end=rne" mmascope infer "cmd:./unit" --signature "a=f16 b=f16 c=f32 d=f32 k=8"
 *
 * A question is a line of JSON with id, a, b and c; an empty line ends a batch and is answered by one.
 */
#include "mmascope_plugin.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LONGEST = 1 << 16, MOST = 4096 };

/* What follows "name": in a line, behind blanks and the quote that opens a text. */
static const char *field(const char *line, const char *name) {
    char key[16];
    snprintf(key, sizeof key, "\"%s\"", name);
    const char *at = strstr(line, key);
    if (!at) return 0;
    at += strlen(key);
    at += strspn(at, " :\"");
    return at;
}

/* Words of so many hexadecimal digits each. */
static void words(const char *text, size_t digits, size_t count, uint64_t *to) {
    for (size_t i = 0; i < count; i++) {
        char word[20] = "";
        memcpy(word, text + i * digits, digits);
        to[i] = strtoull(word, 0, 16);
    }
}

int main(void) {
    static char line[LONGEST];
    static uint64_t a[MOST], b[MOST];
    const char *signature = mmascope_signature(), *k_text = strstr(signature, "k=");
    size_t k = k_text ? strtoul(k_text + 2, 0, 10) : 0;
    if (k == 0 || k > MOST) {
        fprintf(stderr, "%s\n", signature);
        return 1;
    }
    while (fgets(line, sizeof line, stdin)) {
        if (line[strspn(line, " \r\n")] == 0) {
            puts("");
            fflush(stdout);
            continue;
        }
        const char *id = field(line, "id"), *ta = field(line, "a"), *tb = field(line, "b"), *tc = field(line, "c");
        if (!id || !ta || !tb || !tc) {
            puts("{\"error\":\"a question has id, a, b and c\"}");
            continue;
        }
        size_t digits_a = strcspn(ta, "\"") / k, digits_b = strcspn(tb, "\"") / k, digits_c = strcspn(tc, "\"");
        if (digits_a > 16 || digits_b > 16 || digits_c > 16) {
            printf("{\"id\":%ld,\"error\":\"words are too long\"}\n", strtol(id, 0, 10));
            continue;
        }
        uint64_t c, d;
        words(ta, digits_a, k, a);
        words(tb, digits_b, k, b);
        words(tc, digits_c, 1, &c);
        if (mmascope_run(1, a, b, &c, 0, 0, &d)) printf("{\"id\":%ld,\"error\":\"the unit refuses\"}\n", strtol(id, 0, 10));
        else printf("{\"id\":%ld,\"d\":\"%0*llx\"}\n", strtol(id, 0, 10), (int)digits_c, (unsigned long long)d);
    }
    return 0;
}
