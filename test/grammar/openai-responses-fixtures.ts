// What the tests of the Responses adapter and its raw lane share: forms of streams and a target.
import { readdirSync, readFileSync } from 'node:fs';
import type { Target } from '@svc/core/inference/canonical/contract.ts';
import type { CanonicalRequest } from '@svc/core/inference/canonical/types.ts';
import { chatRequest, chatTarget, type Fixture } from './chat-fixtures.ts';

const FOLDER = new URL('../../core/inference/formats/openai-responses/fixtures/', import.meta.url);

/** Every fixture of the folder, by name. */
export function responsesFixtures(): Fixture[] {
  return readdirSync(FOLDER)
    .filter((file) => file.endsWith('.sse'))
    .sort()
    .map((file) => {
      const name = file.slice(0, -4);
      const meta = JSON.parse(readFileSync(new URL(`${name}.json`, FOLDER), 'utf8'));
      const sse = readFileSync(new URL(file, FOLDER));
      return { name, sse, flags: meta.flags ?? [], meta, file: new URL(`${name}.json`, FOLDER) };
    });
}

export function responsesTarget(
  change: {
    flags?: readonly string[];
    parameters?: readonly string[];
    server_tools?: readonly string[];
  } = {},
): Target {
  const target = chatTarget(change.flags, change.parameters);
  const { server_tools = [] } = change;
  return { ...target, family: 'openai_responses', capabilities: { ...target.capabilities, server_tools } };
}

/** A request of the family's own dialect. */
export function responsesRequest(change: Partial<CanonicalRequest> = {}): CanonicalRequest {
  return chatRequest({ dialect: 'responses', ...change });
}
