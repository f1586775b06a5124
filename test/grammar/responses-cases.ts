// What tests of the responses dialect share: the two ends of a reply, and what a client makes of a stream.
import OpenAI from 'openai';
import type { ReplyMeta } from '../../core/inference/canonical/types.ts';
import { meta as messagesMeta } from './messages-cases.ts';

// biome-ignore lint/suspicious/noExplicitAny: wire JSON is read as it comes
type Wire = any;

/** A reply whose caller asked for reasoning state, and repeats nothing else. */
export const meta: ReplyMeta = {
  ...messagesMeta,
  model: 'acme/fast-1',
  echo: {
    members:
      '"instructions":"Be brief.","max_output_tokens":null,"max_tool_calls":null,"metadata":{},"parallel_tool_calls":true' +
      ',"prompt_cache_key":null,"reasoning":{"effort":null,"summary":null},"safety_identifier":null,"temperature":0.5' +
      ',"text":{"format":{"type":"text"}},"tool_choice":"auto","tools":[],"top_logprobs":0,"top_p":null' +
      ',"truncation":"disabled","user":null',
    encrypted_reasoning: true,
  },
};

/** Data of each event, in order. */
export function eventsOf(stream: string): Wire[] {
  return stream
    .split('\n\n')
    .map((block) => block.split('\n').find((line) => line.startsWith('data: ')))
    .filter((line) => line !== undefined)
    .map((line) => JSON.parse(line.slice(6)));
}

/** The response that the last event shows. */
export function finalResponse(stream: string): Wire {
  return eventsOf(stream).at(-1)?.response ?? null;
}

/** What the official client's stream class makes of `stream`. @throws whatever the client refuses in it. */
export async function clientsResponse(stream: string): Promise<Wire> {
  const head = { status: 200, headers: { 'content-type': 'text/event-stream' } };
  const client = new OpenAI({
    ...{ apiKey: 'k', baseURL: 'http://127.0.0.1:1/v1', maxRetries: 0 },
    fetch: async () => new Response(stream, head),
  });
  return client.responses.stream({ model: 'a/b', input: 'x' }).finalResponse();
}
