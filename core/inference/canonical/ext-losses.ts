// What happens to body members that the canonical form does not name, on a family that cannot take them
// (docs/fidelity.md#losses).

import { completionLosses } from './completion-losses.ts';
import { editLosses } from './edits/edits.ts';
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
    // The caller asked the provider to shorten the prompt; the gateway never does that.
    truncation: content,
  },
};

/**
 * Members that the raw lane sends unchanged and that the canonical form names too: families report their loss under
 * that name.
 */
const NAMED: ReadonlySet<string> = new Set([
  ...['prompt_cache_options', 'prompt_cache_retention', 'web_search_options'],
]);

/**
 * Losses of what only the caller's dialect can express, on a family with another wire format: the members of
 * `request.ext` (one without a rule is a loss of class `behaviour`), and what distinguishes a completion from a chat.
 */
export function extLosses(request: CanonicalRequest): Loss[] {
  const known = rules[request.dialect] ?? {};
  const names = Object.keys(request.ext ?? {}).filter((name) => !NAMED.has(name));
  const losses = [...completionLosses(request), ...editLosses(request)];
  for (const param of names) {
    if (param === 'context_management' && request.context_edits !== undefined) continue;
    const rule = Object.hasOwn(known, param) ? known[param]! : undefined;
    const { class: kind, code } = rule ?? { class: 'behaviour', code: 'unknown_parameter_dropped' };
    losses.push({ class: kind, code, param, message: `'${param}' cannot be carried to this endpoint.` });
  }
  return losses;
}
