// What a request would lose on an endpoint of the Responses API (docs/fidelity.md#losses).
import type { JsonObject } from '../../../../kernel/index.ts';
import type { Target } from '../../../canonical/contract.ts';
import { extLosses } from '../../../canonical/ext-losses.ts';
import { parameters } from '../../../canonical/parameters.ts';
import { outputPreferences } from '../../../canonical/preferences.ts';
import { applyRules } from '../../../canonical/rules.ts';
import { searchLosses, serverToolLoss } from '../../../canonical/tools/server-tools.ts';
import type { CanonicalRequest, Loss, Message, Part, Tool } from '../../../canonical/types.ts';
import { isForeignSearch, runsSearch, toolPath } from '../../../canonical/web-search.ts';
import { effortFor, isDefaultTier, takes } from '../../openai-chat/words/fields.ts';
import { SEARCH_OPTIONS } from '../words/search.ts';
import { isReadable, reasoningRuns, takesBreakpoint } from './items.ts';
import { GENERATION, OUTPUT } from './parameters.ts';

const FAMILY = 'openai_responses';

type Lose = (kind: Loss['class'], code: string, param: string, message: string) => void;

/**
 * Losses of `request` on `target`. In the raw lane the caller's fields are sent unchanged, so only fields of the
 * gateway can be lost.
 */
export function lossesOf(request: CanonicalRequest, target: Target): Loss[] {
  const losses: Loss[] = [];
  const lose: Lose = (kind, code, param, message) => {
    losses.push({ class: kind, code, param, message });
  };
  const own = request.dialect === 'responses';
  if (!isDefaultTier(request.service_tier) && !takes(target, 'service_tier')) {
    const why = 'This endpoint has no price for the service tier.';
    lose('behaviour', 'service_tier_ignored', 'service_tier', why);
  }
  request.tools?.forEach((tool, i) => {
    losses.push(...serverLosses(request, tool, toolPath(tool, i), target));
    if (!own) optionLost(tool, toolPath(tool, i), lose);
  });
  losses.push(...applyRules(parameters, GENERATION, request.generation, { target, own }).losses);
  if (own) {
    ownHistory(request, lose);
    return losses;
  }
  losses.push(...extLosses(request));
  request.messages.forEach((message, i) => {
    messageLosses(message, `messages[${i}]`, lose);
  });
  cacheLosses(request, target, lose);
  preferenceLosses(request, target, lose);
  losses.push(...applyRules(outputPreferences, OUTPUT, request.output ?? {}, { target, own }).losses);
  return losses;
}

const STATE_LOST = 'Reasoning whose state this provider cannot read is not sent to it.';

/** Reasoning items without their state, or with another family's, are left out of the caller's bytes. */
function ownHistory({ messages }: CanonicalRequest, lose: Lose): void {
  const lost = messages.some(({ content }) => content.some(isForeign));
  if (lost) lose('hint', 'reasoning_signature_dropped', 'input', STATE_LOST);
}

/** Whether `part` comes from a reasoning item that this family cannot read. */
export function isForeign(part: Part): boolean {
  if (part.type === 'reasoning') return !isReadable(part);
  return part.type === 'tool_call' && part.signature !== undefined;
}

function serverLosses(request: CanonicalRequest, tool: Tool, path: string, target: Target): Loss[] {
  if (isForeignSearch(tool, FAMILY)) {
    return searchLosses(request, tool, { path, target, carried: SEARCH_OPTIONS });
  }
  if (tool.kind !== 'server' || runsTool(tool, request, target)) return [];
  const own = tool.family === FAMILY;
  const code = own ? 'server_tool' : 'server_tool_unsupported';
  const param = own ? `${path}.type` : path;
  const message = `Tool '${tool.name}' is not offered here.`;
  return [serverToolLoss(request, tool, { code, param, message })];
}

function optionLost(tool: Tool, path: string, lose: Lose): void {
  if (tool.ext === undefined || Object.keys(tool.ext).length === 0) return;
  lose('hint', 'tool_option_dropped', path, `Options of tool '${tool.name}' are not sent to this endpoint.`);
}

/** Whether the endpoint runs this tool of the family: the caller's own always, others when listed and thus priced. */
export function runsTool(tool: Tool, _request: CanonicalRequest, target: Target): boolean {
  if (tool.search !== undefined && runsSearch(target)) return true;
  if (tool.family !== FAMILY) return false;
  const type = typeof tool.payload?.['type'] === 'string' ? tool.payload['type'] : tool.name;
  const listed = target.capabilities.server_tools;
  if (tool.by_caller === true || listed.includes('*')) return true;
  return listed.includes(type) || listed.includes(type.replace(/_\d{4}_\d{2}_\d{2}$/, ''));
}

const NOTHING: ReadonlySet<string> = new Set();
/** Members of `ext` that are written here or whose loss changes nothing, by what they belong to. */
const ON_MESSAGE: ReadonlySet<string> = new Set(['role', 'phase']);
const ON_TEXT: ReadonlySet<string> = new Set(['phase']);
const ON_DOCUMENT: ReadonlySet<string> = new Set(['source']);

function extLost(ext: JsonObject | undefined, path: string, carried: ReadonlySet<string>, lose: Lose): void {
  const names = Object.keys(ext ?? {}).filter((name) => !carried.has(name));
  if (names.length === 0) return;
  lose('behaviour', 'unknown_parameter_dropped', path, `Not sent to this endpoint: ${names.join(', ')}.`);
}

function messageLosses(message: Message, path: string, lose: Lose): void {
  extLost(message.ext, path, ON_MESSAGE, lose);
  if (message.name !== undefined) {
    lose('hint', 'name_dropped', `${path}.name`, 'This provider has no field for names.');
  }
  const carried = carriedReasoning(message);
  message.content.forEach((part, j) => {
    partLosses(part, `${path}.content[${j}]`, { message, carried, lose });
  });
}

/** Reasoning whose item has a state that this family reads: a summary may be a separate part beside it. */
function carriedReasoning({ content }: Message): ReadonlySet<Part> {
  return new Set(reasoningRuns(content).flatMap((run) => (run.some(isReadable) ? run : [])));
}

function carriedOn(part: Part): ReadonlySet<string> {
  if (part.type === 'text' || part.type === 'refusal') return ON_TEXT;
  return part.type === 'document' ? ON_DOCUMENT : NOTHING;
}

/** Parts that cannot be sent back as items of their own when the model has shown them. */
const SHOWN: ReadonlySet<Part['type']> = new Set(['image', 'document', 'search_result']);

const SHOWN_ONCE = 'Media in an answer of the assistant cannot be sent back here.';

interface LossesOf {
  readonly message: Message;
  readonly carried: ReadonlySet<Part>;
  readonly lose: Lose;
}

function innerLosses(parts: readonly Part[], path: string, of: LossesOf): void {
  parts.forEach((inner, k) => {
    partLosses(inner, `${path}.content[${k}]`, of);
  });
}

function partLosses(part: Part, path: string, of: LossesOf): void {
  const { message, carried, lose } = of;
  if ('src' in part && 'file_id' in part.src && part.src.family !== 'openai_responses') {
    lose('content', 'file_unsupported', path, 'A file stored at another provider cannot be read here.');
  }
  extLost(part.ext, path, carriedOn(part), lose);
  if (message.role === 'assistant' && SHOWN.has(part.type)) {
    return lose('content', 'media_unsupported', path, SHOWN_ONCE);
  }
  switch (part.type) {
    case 'audio':
      return lose('content', 'audio_unsupported', path, 'This provider does not accept audio.');
    case 'video':
      return lose('content', 'video_unsupported', path, 'This provider does not accept video.');
    case 'document':
      if ('text' in part.src || part.title !== undefined || part.context !== undefined) {
        lose('behaviour', 'document_flattened', path, 'The document is sent as text with a header.');
      }
      if (part.citations === true) {
        lose('behaviour', 'citations_unsupported', path, 'This endpoint does not cite documents.');
      }
      return;
    case 'search_result':
      lose('behaviour', 'document_flattened', path, 'The search result is sent as text with a header.');
      if (part.citations === true) {
        lose('behaviour', 'citations_unsupported', path, 'This endpoint does not cite documents.');
      }
      return innerLosses(part.content, path, of);
    case 'text':
      if ((part.citations?.length ?? 0) === 0) return;
      return lose('hint', 'citation_dropped', path, 'Citations of earlier answers are not sent back.');
    case 'reasoning':
      if (!carried.has(part)) lose('hint', 'reasoning_signature_dropped', path, STATE_LOST);
      return;
    case 'tool_call':
      if (part.signature === undefined) return;
      return lose('hint', 'reasoning_signature_dropped', path, STATE_LOST);
    case 'tool_result':
      return innerLosses(part.content, path, of);
    case 'server_tool':
      if (part.family === 'openai_responses') return;
      return lose(
        'content',
        'server_tool_unsupported',
        path,
        `'${part.name}' can be replayed only to its own provider.`,
      );
    case 'refusal':
    case 'image':
  }
}

/** Parts of a user's message that can have a breakpoint. */
const MARKED: ReadonlySet<Part['type']> = new Set(['text', 'image', 'document', 'search_result']);

function hasLostHint(parts: readonly Part[], written: boolean): boolean {
  return parts.some(
    (part) =>
      (part.cache !== undefined && !(written && MARKED.has(part.type))) ||
      ('content' in part && hasLostHint(part.content, written)),
  );
}

/** One loss for all cache hints, because they are one request. */
function cacheLosses(request: CanonicalRequest, target: Target, lose: Lose): void {
  const written = takesBreakpoint(target);
  // An endpoint that caches by itself needs no breakpoint: without one nothing is lost.
  if (!written && target.capabilities.cache) return;
  const lost =
    request.cache?.hint !== undefined ||
    request.tools?.some((tool) => tool.cache !== undefined) === true ||
    request.messages.some(({ role, content }) => hasLostHint(content, written && role !== 'assistant'));
  if (lost) lose('hint', 'cache_hint_dropped', 'cache_control', 'This endpoint has no field for this hint.');
}

function preferenceLosses(request: CanonicalRequest, target: Target, lose: Lose): void {
  const { lost } = effortFor(request, target);
  if (lost === 'reasoning_not_disabled') {
    lose('behaviour', lost, 'reasoning', 'This model cannot stop reasoning; its lowest effort is used.');
  } else if (lost !== null) {
    lose('behaviour', lost, 'reasoning', 'This endpoint does not accept a reasoning effort.');
  }
  if (request.parallel_tools === false && !target.capabilities.parallel_tools) {
    lose(
      'behaviour',
      'parallel_dropped',
      'parallel_tool_calls',
      'This endpoint does not take this parameter.',
    );
  }
  if (request.messages.at(-1)?.role === 'assistant' && !target.capabilities.prefill) {
    lose('content', 'prefill_unsupported', 'messages', 'This endpoint cannot continue an assistant message.');
  }
  if ((request.anthropic?.betas.length ?? 0) > 0) {
    lose('hint', 'beta_ignored', 'anthropic-beta', 'Betas of another API are not sent.');
  }
}
