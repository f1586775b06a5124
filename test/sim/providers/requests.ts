// Reading a request, keeping a record of it, and answering with JSON.
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Knobs } from './knobs.ts';
import type { CallRecord } from './record.ts';
import type { JsonBody, Wire } from './wire.ts';

const BODY_BYTES_MAX = 64 * 1_024 * 1_024;
const KEPT_HEADERS = [
  'user-agent',
  'accept-encoding',
  'anthropic-version',
  'anthropic-beta',
  'anthropic-workspace-id',
  'openai-organization',
];

/** A call as it came in. */
export interface Call {
  request: IncomingMessage;
  response: ServerResponse;
  wire: Wire;
  body: JsonBody;
  key: string;
  bytes: number;
}

/** The headers that records keep. */
export function keptHeaders(request: IncomingMessage): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const name of KEPT_HEADERS) {
    const value = request.headers[name];
    if (typeof value === 'string') headers[name] = value;
  }
  return headers;
}

/** The record of a call, made before it is served; `named` are its knobs as they were written. */
export function recordOf(
  { request, wire, body, key, bytes }: Call,
  knobs: Knobs,
  named: string,
): Omit<CallRecord, 'n'> {
  const metadata = body['metadata'] as JsonBody | undefined;
  const headers = keptHeaders(request);
  return {
    family: wire.family,
    mark: knobs.mark ?? (typeof metadata?.['mark'] === 'string' ? metadata['mark'] : ''),
    model: String(body['model']),
    stream: body['stream'] === true,
    knobs: named,
    began_ms: Date.now(),
    ended_ms: null,
    request_bytes: bytes,
    status: 0,
    id: '',
    bytes_delivered: 0,
    tokens_delivered: 0,
    prompt_tokens: 0,
    completion_tokens: 0,
    reported: null,
    finished: false,
    client_gone: false,
    key_hint: key.slice(-4),
    headers,
    body,
  };
}

export function json(response: ServerResponse, status: number, body: string): void {
  response.writeHead(status, {
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(body),
  });
  response.end(body);
}

/** The whole body. @throws Error above 64 MiB. */
export async function bodyOf(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > BODY_BYTES_MAX) throw new Error('request body above 64 MiB');
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}
