// What coding tools send and official clients do not: their request sequences, headers and query strings.
import { describe, expect, test } from 'vitest';
import { useGateway } from './gateway.ts';

const gateway = useGateway();

function call(
  method: string,
  path: string,
  body: unknown,
  headers: Record<string, string> = {},
): Promise<Response> {
  return fetch(`${gateway().base_url}${path}`, {
    method,
    headers: {
      authorization: `Bearer ${gateway().sandbox_key}`,
      'content-type': 'application/json',
      ...headers,
    },
    body: body === null ? null : JSON.stringify(body),
  });
}

/** The text pieces of a stream in either dialect, joined. */
function textOf(stream: string): string {
  const pieces = stream.matchAll(/"delta":\{(?:"type":"text_delta","text"|"content"):"([^"]+)"/g);
  return [...pieces].map(([, piece]) => piece).join('');
}

describe('a terminal agent over messages', () => {
  const headers = {
    'anthropic-version': '2023-06-01',
    'anthropic-beta':
      'claude-code-20250219,interleaved-thinking-2025-05-14,fine-grained-tool-streaming-2025-05-14',
    'anthropic-dangerous-direct-browser-access': 'true',
    'x-app': 'cli',
    'x-stainless-retry-count': '0',
    'user-agent': 'claude-cli/2.0.0 (external, cli)',
  };

  test('its probe of the base address is answered', async () => {
    const reply = await call('HEAD', '/', null);
    expect(reply.status).toBeLessThan(500);
  });

  test('its long models list is answered whole', async () => {
    const reply = await call('GET', '/v1/models?limit=1000', null, headers);
    expect(reply.status).toBe(200);
    const list = (await reply.json()) as { data: { id: string }[] };
    expect(list.data.map((model) => model.id)).toContain('sandbox/echo');
  });

  test('its streamed turn with system blocks, cache marks, betas and tools is answered', async () => {
    const body = {
      model: 'sandbox/echo',
      max_tokens: 32000,
      stream: true,
      system: [
        { type: 'text', text: 'You are a coding agent.', cache_control: { type: 'ephemeral' } },
        { type: 'text', text: 'Be brief.', cache_control: { type: 'ephemeral' } },
      ],
      messages: [
        {
          role: 'user',
          content: [{ type: 'text', text: 'list the files', cache_control: { type: 'ephemeral' } }],
        },
      ],
      tools: [
        {
          name: 'Bash',
          description: 'Runs a command',
          input_schema: {
            type: 'object',
            properties: { command: { type: 'string' } },
            required: ['command'],
          },
        },
      ],
      metadata: { user_id: 'user_0123_account__session_4567' },
    };
    const reply = await call('POST', '/v1/messages?beta=true', body, headers);
    const text = await reply.text();
    expect(reply.status, text).toBe(200);
    expect(text).toContain('event: message_start');
    expect(text).toContain('event: message_stop');
    expect(textOf(text)).toBe('list the files');
  });
});

describe('an editor over chat completions', () => {
  test('its turn with parts, nulls and extra fields is answered as a stream', async () => {
    const body = {
      model: 'sandbox/echo',
      stream: true,
      stream_options: { include_usage: true },
      temperature: 0,
      user: 'someone',
      tools: null,
      messages: [
        { role: 'system', content: 'You edit code.' },
        { role: 'user', content: [{ type: 'text', text: 'rename the variable' }] },
      ],
    };
    const reply = await call('POST', '/v1/chat/completions', body);
    const text = await reply.text();
    expect(reply.status, text).toBe(200);
    expect(textOf(text)).toBe('rename the variable');
    expect(text.trimEnd().endsWith('data: [DONE]')).toBe(true);
  });
});
