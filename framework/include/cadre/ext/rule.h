// Rules: what a topology's options let decide, such as `when`, `route` and `until`. An
// expression of the team file (cadre/ext/expression.h), or {"call": "name"}: a
// predicate that the program added (cadre/predicate.h).
//
// Thread: a rule never changes; any thread may ask it.
#ifndef CADRE_EXT_RULE_H
#define CADRE_EXT_RULE_H

#include "cadre/ext/agent.h"
#include "cadre/ext/expression.h"
#include "cadre/predicate.h"

#ifdef __cplusplus
extern "C" {
#endif

// One of the two, or none.
typedef struct cadre_rule {
    cadre_expression *expression; // owned
    const cadre_predicate *predicate;
} cadre_rule;

// Reads what is written at that path of the options. False: the mistake was told to the
// configuration.
CADRE_API bool cadre_rule_read(cadre_rule *rule, const cadre_agent_config *config,
                               const char *path, const json_t *written);
CADRE_API void cadre_rule_fini(cadre_rule *rule);
CADRE_API bool cadre_rule_is_set(const cadre_rule *rule);

// Gives what the rule says. New reference; NULL: `err`, of class hook for a mistake in
// an expression.
CADRE_API json_t *cadre_rule_value(const cadre_rule *rule,
                                   const cadre_predicate_values *values,
                                   cadre_error *err);

// The same of a condition: true, false or null, which counts as false. Errors: EFAILED.
CADRE_API cadre_status cadre_rule_test(const cadre_rule *rule,
                                       const cadre_predicate_values *values, bool *out,
                                       cadre_error *err);

#ifdef __cplusplus
}
#endif

#endif
