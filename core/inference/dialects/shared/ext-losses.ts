// What becomes of body members that the canonical form does not name, on a family that cannot take them
// (decisions 4.1 to 4.3: the class in brackets).
import type { CanonicalRequest, DialectName, Loss } from '../../canonical/types.ts';

type Rule = Pick<Loss, 'class' | 'code'>;

const content: Rule = { class: 'content', code: 'unsupported_parameter' };

const rules: Partial<Record<DialectName, Readonly<Record<string, Rule>>>> = {
  chat: {
    audio: content,
    prediction: { class: 'hint', code: 'prediction_dropped' },
    web_search_options: content,
    moderation: content,
    response_format: content,
    prompt_cache_options: { class: 'hint', code: 'cache_hint_dropped' },
    prompt_cache_retention: { class: 'hint', code: 'cache_hint_dropped' },
  },
  messages: {
    container: content,
    diagnostics: content,
    context_management: content,
    mcp_servers: content,
    fallbacks: content,
    thread: content,
    compaction: content,
    task_budget: content,
    billing_policy: content,
  },
  responses: { max_tool_calls: content, moderation: content, context_management: content },
};

/** Losses of `request.ext` where its dialect is not the family's; members without a rule change the answer at most. */
export function extLosses(request: CanonicalRequest): Loss[] {
  const known = rules[request.dialect] ?? {};
  return Object.keys(request.ext ?? {}).map((param) => {
    const rule = Object.hasOwn(known, param) ? known[param]! : undefined;
    const { class: kind, code } = rule ?? { class: 'behaviour', code: 'unknown_parameter_dropped' };
    return { class: kind, code, param, message: `'${param}' cannot be carried to this endpoint.` };
  });
}
