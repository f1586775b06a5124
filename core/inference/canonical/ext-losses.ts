// What becomes of body members that the canonical form does not name, on a family that cannot take them
// (docs/fidelity.md#losses).

import { completionLosses } from './completion-losses.ts';
import type { CanonicalRequest, DialectName, Loss } from './types.ts';

type Rule = Pick<Loss, 'class' | 'code'>;

const content: Rule = { class: 'content', code: 'unsupported_parameter' };

const rules: Partial<Record<DialectName, Readonly<Record<string, Rule>>>> = {
  chat: {
    audio: content,
    prediction: { class: 'hint', code: 'prediction_dropped' },
    moderation: content,
    response_format: content,
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
  responses: {
    max_tool_calls: content,
    moderation: content,
    context_management: content,
    // The caller asked its provider to shorten the prompt; the gateway never does.
    truncation: content,
  },
};

/** Members that the raw lane sends as they are and that the canonical form names too: families report their loss by that name. */
const NAMED: ReadonlySet<string> = new Set([
  ...['prompt_cache_options', 'prompt_cache_retention', 'web_search_options'],
]);

/**
 * Losses of what only the caller's dialect can say, where that is not the family's: `request.ext`, whose members without
 * a rule change the answer at most, and what makes a completion more than a chat.
 */
export function extLosses(request: CanonicalRequest): Loss[] {
  const known = rules[request.dialect] ?? {};
  const names = Object.keys(request.ext ?? {}).filter((name) => !NAMED.has(name));
  const losses = completionLosses(request);
  for (const param of names) {
    const rule = Object.hasOwn(known, param) ? known[param]! : undefined;
    const { class: kind, code } = rule ?? { class: 'behaviour', code: 'unknown_parameter_dropped' };
    losses.push({ class: kind, code, param, message: `'${param}' cannot be carried to this endpoint.` });
  }
  return losses;
}
