// The text that `make up` prints when the gateway answers: everything needed for a first call, ready to paste.

interface GuideFacts {
  readonly base_url: string;
  readonly sandbox_key: string;
  readonly live_key: string;
  /** Null when the port of the console is taken by another program. */
  readonly console_url: string | null;
  readonly console_login: { readonly email: string; readonly password: string };
  readonly demo_in: { readonly console_login: { readonly email: string; readonly password: string } };
  readonly has_simulated_rail: boolean;
  /** The credit granted to the live key's organization, as text. */
  readonly live_grant: string;
  /** Where programs write their logs. */
  readonly log_dir: string;
  /** Names of the provider variables that are set, so that live calls can be answered. */
  readonly live_providers: readonly string[];
}

const MODEL = 'sandbox/echo';

const messages = [{ role: 'user', content: 'Hello' }];

interface Call {
  readonly path: string;
  /** Header that carries the key. */
  readonly header: string;
  readonly more?: string;
  readonly body: object;
  readonly stream: boolean;
}

/** A command that works when pasted, with lines short enough for a narrow terminal. */
function curl(facts: GuideFacts, { path, header, more = '', body, stream }: Call): string {
  const text = JSON.stringify({ model: MODEL, ...(stream ? { stream: true } : {}), ...body });
  return [
    `curl ${stream ? '-N ' : ''}${facts.base_url}${path} \\`,
    `  -H '${header}${facts.sandbox_key}' \\`,
    `  -H 'content-type: application/json'${more} \\`,
    `  -d '${text.replace(',"messages"', ',\n       "messages"')}'`,
  ].join('\n');
}

function calls(facts: GuideFacts): string {
  const chat = { path: '/v1/chat/completions', header: 'authorization: Bearer ', body: { messages } };
  const anthropic = {
    path: '/v1/messages',
    header: 'x-api-key: ',
    more: " -H 'anthropic-version: 2023-06-01'",
    body: { max_tokens: 64, messages },
  };
  const both = (call: Omit<Call, 'stream'>) =>
    [false, true].map((stream) => curl(facts, { ...call, stream })).join('\n');
  return `# Chat completions, whole and streamed
${both(chat)}

# Messages, whole and streamed
${both(anthropic)}`;
}

function clients(facts: GuideFacts): string {
  return `# OpenAI client (Node; Python is the same with base_url and api_key)
new OpenAI({ baseURL: '${facts.base_url}/v1',
             apiKey: '${facts.sandbox_key}' })
  .chat.completions.create({ model: '${MODEL}',
                             messages: [{ role: 'user', content: 'Hello' }] })

# Anthropic client
new Anthropic({ baseURL: '${facts.base_url}',
                apiKey: '${facts.sandbox_key}' })
  .messages.create({ model: '${MODEL}', max_tokens: 64,
                     messages: [{ role: 'user', content: 'Hello' }] })

# Claude Code
export ANTHROPIC_BASE_URL=${facts.base_url}
export ANTHROPIC_AUTH_TOKEN=${facts.sandbox_key}
export ANTHROPIC_MODEL=${MODEL} ANTHROPIC_SMALL_FAST_MODEL=${MODEL}`;
}

function liveNote(facts: GuideFacts): string {
  if (facts.live_providers.length > 0)
    return `${facts.live_grant}; providers by ${facts.live_providers.join(', ')}`;
  return `${facts.live_grant}; for real models set OPENAI_API_KEY or another provider's first`;
}

/** Tells people who pay there that no money moves. */
function topUpNote(facts: GuideFacts): string {
  return facts.has_simulated_rail
    ? '\n             top-ups there go to a simulated checkout: no real money moves'
    : '';
}

function consoleLines(facts: GuideFacts): string {
  const { console_url, console_login, demo_in } = facts;
  const indian = demo_in.console_login;
  return `console      ${console_url ?? 'not started, see below'}   (in some seconds)
login        ${console_login.email}   ${console_login.password}
or in India  ${indian.email}   ${indian.password}${topUpNote(facts)}`;
}

/** The text printed after "the gateway answers". */
export function guide(facts: GuideFacts): string {
  return `
base URL     ${facts.base_url}   documentation ${facts.base_url}/docs
sandbox key  ${facts.sandbox_key}
             free: every model of the catalog, answered in process
live key     ${facts.live_key}
             ${liveNote(facts)}
${consoleLines(facts)}

${calls(facts)}

${clients(facts)}

# The money: recompute every balance, lot, hold and hash; show what is running
npx svcctl ledger verify
npx svcctl status

Logs are in ${facts.log_dir}. Ctrl-C stops everything.
`;
}
