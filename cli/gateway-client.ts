// Calls to the REST API of a gateway: the one of `make up`, or the one that is named.
import type { Flag, Input } from './command.ts';
import { findInstallation, NoInstallation } from './installation.ts';

/** The flags that choose a gateway and a key. */
export const gatewayFlags: Readonly<Record<string, Flag>> = {
  key: { type: 'text', doc: 'API key; default: the live demo key of `make up`', value: 'KEY' },
  sandbox: { type: 'switch', doc: 'use the sandbox demo key' },
  'base-url': { type: 'text', doc: 'gateway to call; default: the one of `make up`', value: 'URL' },
};

export interface Target {
  readonly base: string;
  readonly key: string | null;
}

/** What `gatewayFlags` choose. @throws NoInstallation where no gateway is named and none runs here. */
export function readTarget(input: Input): Target {
  const { up, config } = findInstallation();
  const base = input.find('base-url') ?? up?.base_url ?? config.base_url;
  if (!base) throw new NoInstallation('No gateway: start with `make up`, or name one with --base-url.');
  const own = input.find('base-url') === null ? up : null;
  const key = input.find('key') ?? (input.has('sandbox') ? own?.sandbox_key : own?.live_key) ?? null;
  return { base: base.replace(/\/$/, ''), key };
}

/** One request; `value` is its JSON, or its text where that is none. */
export async function call(
  { base, key }: Target,
  request: {
    readonly method: string;
    readonly path: string;
    readonly body: string | null;
    readonly headers?: Readonly<Record<string, string>>;
  },
) {
  const answer = await fetch(base + request.path, {
    method: request.method,
    headers: {
      ...(key === null ? {} : { authorization: `Bearer ${key}` }),
      ...(request.body === null ? {} : { 'content-type': 'application/json' }),
      ...request.headers,
    },
    body: request.body,
  });
  const text = await answer.text();
  let value: unknown = text;
  try {
    value = JSON.parse(text);
  } catch {
    // A file or an empty answer stays as it is.
  }
  return { status: answer.status, ok: answer.ok, value, text };
}
