// What `make up` prints when the gateway answers: everything needed for a first call, ready to paste.

export interface GuideFacts {
  readonly base_url: string;
  readonly sandbox_key: string;
  readonly live_key: string;
  /** Grant of the live key's organisation, in words. */
  readonly live_grant: string;
  /** Where programs write their logs. */
  readonly log_dir: string;
  /** Names of provider variables that are set, so that live calls can be answered. */
  readonly live_providers: readonly string[];
}

const MODEL = 'sandbox/echo';

function curlChat(facts: GuideFacts, stream: boolean): string {
  const body = {
    model: MODEL,
    ...(stream ? { stream: true } : {}),
    messages: [{ role: 'user', content: 'Hello' }],
  };
  return [
    `curl ${stream ? '-N ' : ''}${facts.base_url}/v1/chat/completions \\`,
    `  -H 'authorization: Bearer ${facts.sandbox_key}' -H 'content-type: application/json' \\`,
    `  -d '${JSON.stringify(body)}'`,
  ].join('\n');
}

function curlMessages(facts: GuideFacts, stream: boolean): string {
  const body = {
    model: MODEL,
    max_tokens: 64,
    ...(stream ? { stream: true } : {}),
    messages: [{ role: 'user', content: 'Hello' }],
  };
  return [
    `curl ${stream ? '-N ' : ''}${facts.base_url}/v1/messages \\`,
    `  -H 'x-api-key: ${facts.sandbox_key}' -H 'anthropic-version: 2023-06-01' -H 'content-type: application/json' \\`,
    `  -d '${JSON.stringify(body)}'`,
  ].join('\n');
}

function clients(facts: GuideFacts): string {
  return `# OpenAI client (Node; Python is the same with base_url and api_key)
new OpenAI({ baseURL: '${facts.base_url}/v1', apiKey: '${facts.sandbox_key}' })
  .chat.completions.create({ model: '${MODEL}', messages: [{ role: 'user', content: 'Hello' }] })

# Anthropic client
new Anthropic({ baseURL: '${facts.base_url}', apiKey: '${facts.sandbox_key}' })
  .messages.create({ model: '${MODEL}', max_tokens: 64, messages: [{ role: 'user', content: 'Hello' }] })

# Claude Code
export ANTHROPIC_BASE_URL=${facts.base_url} ANTHROPIC_AUTH_TOKEN=${facts.sandbox_key}
export ANTHROPIC_MODEL=${MODEL} ANTHROPIC_SMALL_FAST_MODEL=${MODEL}`;
}

function liveNote(facts: GuideFacts): string {
  if (facts.live_providers.length > 0) return `providers by ${facts.live_providers.join(', ')}`;
  return 'charged; beyond sandbox/ models set OPENAI_API_KEY, ANTHROPIC_API_KEY or SVC_PROVIDERS_FILE first';
}

/** The text that follows "the gateway answers". */
export function guide(facts: GuideFacts): string {
  return `
base URL     ${facts.base_url}      documentation ${facts.base_url}/docs
sandbox key  ${facts.sandbox_key}   (free, answered in process by every model of the catalog)
live key     ${facts.live_key}   (${facts.live_grant}; ${liveNote(facts)})

# Chat completions, whole and streamed
${curlChat(facts, false)}
${curlChat(facts, true)}

# Messages, whole and streamed
${curlMessages(facts, false)}
${curlMessages(facts, true)}

${clients(facts)}

# The money: recompute every balance, lot, hold and hash
npx svcctl ledger verify

Logs are in ${facts.log_dir}. Ctrl-C stops everything.
`;
}
