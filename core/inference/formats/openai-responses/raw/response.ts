// Makes a provider's `Response` object the caller's: with our id, model and svc, with the caller's values where only
// hashes were sent, and with reasoning state only for callers who asked for it.
import { isObject, type JsonObject } from '../../../../kernel/index.ts';
import type { Target } from '../../../canonical/contract.ts';
import type { ReplyMeta } from '../../../canonical/types.ts';
import { heldBack } from '../../../wire/private.ts';
import {
  changeMembers,
  type Edit,
  memberOf,
  scanArray,
  scanObject,
  splice,
  type TopLevel,
} from '../../../wire/scan.ts';
import { repeated, repeatedText } from '../caller/echo.ts';
import { countCalls, countSearches } from '../words/parts.ts';

/** The gateway's members in every event of one response; JSON texts. */
export interface Ours {
  readonly id: string;
  readonly model: string;
  /** When the call began, for a server that does not say; JSON text. */
  readonly created: string;
  /** Members repeated as the caller sent them: only hashes of them, or nothing, were sent on. */
  readonly echoed: Readonly<Record<string, string>>;
  /** Everything that an answer repeats of its request; read each time, so that no stream keeps it twice. */
  repeated(): JsonObject;
  /** Reasoning state is passed on. */
  readonly sealed: boolean;
  /** Reasoning items are not passed on. */
  readonly exclude: boolean;
  /** Members of the endpoint's answers that no caller gets. */
  readonly hide: readonly string[] | undefined;
}

const ECHOED = ['metadata', 'user', 'safety_identifier', 'prompt_cache_key'];

const REPEATED = Object.keys(repeated({}));

/** Members that OpenAI always sends, with their values for servers that leave them out. */
const FIXED = {
  object: '"response"',
  output: '[]',
  background: 'false',
  completed_at: 'null',
  error: 'null',
  incomplete_details: 'null',
  previous_response_id: 'null',
  service_tier: '"default"',
  usage: 'null',
};

/** The gateway's members in the answers to a call. */
export function oursOf(meta: ReplyMeta, { hide }: Pick<Target, 'hide'>): Ours {
  const text = repeatedText(meta);
  const read = (): JsonObject => JSON.parse(`{${text}}`) as JsonObject;
  const members = read();
  const echoed: Record<string, string> = {};
  for (const name of ECHOED) echoed[name] = JSON.stringify(members[name] ?? null);
  const exclude = meta.reasoning === 'exclude';
  return {
    id: JSON.stringify(meta.request_id),
    model: JSON.stringify(meta.model),
    created: String(meta.created),
    echoed,
    repeated: read,
    sealed: !exclude && meta.echo?.encrypted_reasoning === true,
    exclude,
    hide,
  };
}

/** Edits that make the response `top` ours; `more` are members of its end. */
export function responseEdits(
  body: Buffer,
  top: TopLevel,
  ours: Ours,
  more: Readonly<Record<string, string>> = {},
): Edit[] {
  const left = heldBack(
    top.members.map(({ name }) => name),
    ours.hide,
  );
  const changes: Record<string, string | null> = {
    ...left,
    ...missing(top, ours),
    id: ours.id,
    model: ours.model,
    store: 'false',
    ...ours.echoed,
    ...more,
  };
  const edits = changeMembers(top, changes);
  const output = memberOf(top, 'output');
  if (ours.sealed || output === undefined) return edits;
  const items = scanArray(body, output.from) ?? [];
  if (!ours.exclude) return [...edits, ...items.flatMap(({ from }) => withoutState(body, from))];
  const kept = items.filter(({ from }) => !isReasoning(body, scanObject(body, from)));
  if (kept.length === items.length) return edits;
  const texts = kept.map(({ from, to }) => body.toString('utf8', from, to));
  return [...edits, { from: output.from, to: output.to, text: `[${texts.join(',')}]` }];
}

function missing(top: TopLevel, ours: Ours): Record<string, string> {
  const names = new Set(top.members.map(({ name }) => name));
  const added: Record<string, string> = {};
  for (const [name, text] of Object.entries(FIXED)) if (!names.has(name)) added[name] = text;
  if (!names.has('created_at')) added['created_at'] = ours.created;
  if (REPEATED.every((name) => names.has(name))) return added;
  for (const [name, value] of Object.entries(ours.repeated())) {
    if (!names.has(name)) added[name] = JSON.stringify(value);
  }
  return added;
}

/**
 * Members that the server left out of the response of its last event `data` although the stream had them: how it ended
 * (as `ended` has it), and `items`.
 */
export function unsent(
  data: JsonObject,
  ended: JsonObject,
  items: readonly string[],
): Record<string, string> {
  const sent = isObject(data['response']) ? data['response'] : {};
  const { output } = sent;
  const members: Record<string, string> = {};
  if (sent['status'] !== ended['status']) members['status'] = JSON.stringify(ended['status']);
  const without = !Array.isArray(output) || (output.length === 0 && items.length > 0);
  if (without) members['output'] = `[${items.join(',')}]`;
  return members;
}

/** The event `text` without the state of its reasoning item. */
export function unsealed(text: string): string | Buffer {
  const body = Buffer.from(text);
  const top = scanObject(body);
  const member = top === null ? undefined : memberOf(top, 'item');
  const edits = member === undefined ? [] : withoutState(body, member.from);
  return edits.length === 0 ? text : splice(body, edits);
}

/** Edits that take the state from the reasoning item at `from`; [] for any other item. */
function withoutState(body: Buffer, from: number): Edit[] {
  const item = scanObject(body, from);
  if (item === null || !isReasoning(body, item)) return [];
  return changeMembers(item, { encrypted_content: null });
}

function isReasoning(body: Buffer, item: TopLevel | null): boolean {
  const type = item === null ? undefined : memberOf(item, 'type');
  return type !== undefined && body.toString('latin1', type.from, type.to) === '"reasoning"';
}

/** What metering reads of an output: bytes of text, reasoning and arguments, calls, searches of the web, and whether it refused. */
export function measure(output: unknown): {
  bytes: number;
  calls: number;
  searches: number;
  refusal: boolean;
} {
  let bytes = 0;
  let refusal = false;
  for (const item of Array.isArray(output) ? output : []) {
    if (!isObject(item)) continue;
    bytes += itemBytes(item);
    refusal ||= listOf(item['content']).some(({ type }) => type === 'refusal');
  }
  return { bytes, calls: countCalls(output), searches: countSearches(output), refusal };
}

/** Bytes of text, reasoning and arguments of one item. */
export function itemBytes(item: JsonObject): number {
  let bytes = byteLength(item['arguments']) + byteLength(item['input']);
  for (const part of [...listOf(item['content']), ...listOf(item['summary'])]) {
    bytes += byteLength(part['text']) + byteLength(part['refusal']);
  }
  return bytes;
}

function listOf(value: unknown): JsonObject[] {
  return Array.isArray(value) ? value.filter(isObject) : [];
}

/** Bytes of a text; 0 for anything else. */
export function byteLength(value: unknown): number {
  return typeof value === 'string' ? Buffer.byteLength(value) : 0;
}
