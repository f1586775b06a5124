// What a request would lose on an OpenAI-type chat endpoint (docs/fidelity.md#losses).
import type { JsonObject } from '../../../../kernel/index.ts';
import type { Target } from '../../../canonical/contract.ts';
import { extLosses } from '../../../canonical/ext-losses.ts';
import { parameters } from '../../../canonical/parameters.ts';
import { outputPreferences } from '../../../canonical/preferences.ts';
import { applyRules } from '../../../canonical/rules.ts';
import { listsTool, searchLosses, serverToolLoss } from '../../../canonical/tools/server-tools.ts';
import type {
  AudioPart,
  CanonicalRequest,
  DocumentPart,
  Loss,
  Message,
  Part,
  Tool,
  VideoPart,
} from '../../../canonical/types.ts';
import { isForeignSearch, toolPath } from '../../../canonical/web-search.ts';
import { effortFor, has, hasPaid, isDefaultTier, paidMembers, speaks, takes } from '../words/fields.ts';
import { SEARCH_OPTIONS } from '../words/search.ts';
import { readsSignature, reasoningMember } from './messages.ts';
import { GENERATION, OUTPUT } from './parameters.ts';

type Kind = Loss['class'];

/**
 * Losses of `request` on `target`. In the raw lane the caller's fields are sent unchanged, so only fields of the
 * gateway can be lost.
 */
export function lossesOf(request: CanonicalRequest, target: Target): Loss[] {
  const losses: Loss[] = [];
  const lose = (kind: Kind, code: string, param: string, message: string): void => {
    losses.push({ class: kind, code, param, message });
  };
  if (!isDefaultTier(request.service_tier) && !takes(target, 'service_tier')) {
    lose(
      'behaviour',
      'service_tier_ignored',
      'service_tier',
      'This endpoint has no price for the service tier.',
    );
  }
  quirkLosses(request, target, lose);
  losses.push(...hostedLosses(request, target));
  if (speaks(target, request.dialect)) {
    for (const [name, feature] of paidMembers) {
      if (request.ext?.[name] === undefined || hasPaid(target, feature)) continue;
      lose('content', 'unsupported_parameter', name, `This endpoint lists no price for '${feature}'.`);
    }
    return losses;
  }
  losses.push(...extLosses(request));
  request.messages.forEach((message, i) => {
    messageLosses(message, `messages[${i}]`, target, lose);
  });
  request.tools?.forEach((tool, i) => {
    const path = toolPath(tool, i);
    if (isForeignSearch(tool, 'openai_chat'))
      losses.push(...searchLosses(request, tool, { path, target, carried: SEARCH_OPTIONS }));
    else toolLosses(tool, path, lose);
  });
  cacheLosses(request, target, lose);
  losses.push(...applyRules(parameters, GENERATION, request.generation, { target }).losses);
  preferenceLosses(request, target, lose);
  const { output = {} } = request;
  losses.push(...applyRules(outputPreferences, OUTPUT, output, { target, output }).losses);
  return losses;
}

/** What the endpoint itself does not support, whatever the caller's dialect. */
function quirkLosses(request: CanonicalRequest, target: Target, lose: Lose): void {
  if (request.user !== undefined && has(target, 'no_user_field')) {
    lose('hint', 'user_dropped', 'user', 'This endpoint has no field for the end user.');
  }
  if (request.cache?.key !== undefined && has(target, 'no_cache_key')) {
    lose('hint', 'cache_hint_dropped', 'prompt_cache_key', 'This endpoint does not accept a cache key.');
  }
  const names = has(target, 'no_message_names');
  // For other dialects the loss is reported with its part.
  const thoughts = request.dialect === 'chat' && has(target, 'no_reasoning_in');
  if (!names && !thoughts) return;
  request.messages.forEach((message, i) => {
    if (names && message.name !== undefined) {
      lose('hint', 'name_dropped', `messages[${i}].name`, 'This endpoint has no field for names.');
    }
    if (thoughts && message.content.some(({ type }) => type === 'reasoning')) {
      const why = 'Reasoning of earlier turns is not sent to this endpoint.';
      lose('hint', 'reasoning_signature_dropped', `messages[${i}]`, why);
    }
  });
}

type Lose = (kind: Kind, code: string, param: string, message: string) => void;

/** Members of a message's `ext` that are written here or whose loss changes nothing. */
const CARRIED = new Set(['role', 'audio']);

function extLost(ext: JsonObject | undefined, path: string, carried: ReadonlySet<string>, lose: Lose): void {
  const names = Object.keys(ext ?? {}).filter((name) => !carried.has(name));
  if (names.length === 0) return;
  lose('behaviour', 'unknown_parameter_dropped', path, `Not sent to this endpoint: ${names.join(', ')}.`);
}

/** The blocks that a document was read from; its text contains what they say. */
const SOURCE = new Set(['source']);
const NOTHING: ReadonlySet<string> = new Set();

function messageLosses(message: Message, path: string, target: Target, lose: Lose): void {
  extLost(message.ext, path, CARRIED, lose);
  message.content.forEach((part, j) => {
    partLosses(part, `${path}.content[${j}]`, target, lose);
  });
}

const MEDIA_MOVED = 'Media of the tool result are sent in a user message after it.';
const REASONING_LEFT = 'Reasoning of earlier turns is not sent to this endpoint.';

function partLosses(part: Part, path: string, target: Target, lose: Lose): void {
  if ('src' in part && 'file_id' in part.src && part.src.family !== 'openai_chat') {
    lose('content', 'file_unsupported', path, 'A file stored at another provider cannot be read here.');
  }
  extLost(part.ext, path, part.type === 'document' ? SOURCE : NOTHING, lose);
  switch (part.type) {
    case 'audio':
    case 'video':
    case 'document':
      return mediaLosses(part, path, target, lose);
    case 'search_result':
      lose('behaviour', 'document_flattened', path, 'The search result is sent as text with a header.');
      if (part.citations === true) {
        lose('behaviour', 'citations_unsupported', path, 'This endpoint does not cite documents.');
      }
      part.content.forEach((inner, k) => {
        partLosses(inner, `${path}.content[${k}]`, target, lose);
      });
      break;
    case 'reasoning':
      if (reasoningMember(target) === null || part.signature !== undefined || part.data !== undefined) {
        lose('hint', 'reasoning_signature_dropped', path, REASONING_LEFT);
      }
      break;
    case 'tool_result':
      if (part.content.some((inner) => inner.type !== 'text')) {
        lose('behaviour', 'tool_media_moved', path, MEDIA_MOVED);
      }
      part.content.forEach((inner, k) => {
        partLosses(inner, `${path}.content[${k}]`, target, lose);
      });
      break;
    case 'server_tool':
      if (part.family !== 'openai_chat') {
        lose(
          'content',
          'server_tool_unsupported',
          path,
          `'${part.name}' can be replayed only to its own provider.`,
        );
      }
      break;
    case 'tool_call':
      if (part.signature !== undefined && !readsSignature(part, target)) {
        const why = 'The signature of another provider is not sent to this endpoint.';
        lose('hint', 'reasoning_signature_dropped', path, why);
      }
      break;
    case 'text':
      if ((part.citations?.length ?? 0) > 0) {
        lose('hint', 'citation_dropped', path, 'Citations of earlier answers are not sent back.');
      }
      break;
    case 'refusal':
    case 'image':
      break;
  }
}

function mediaLosses(
  part: AudioPart | VideoPart | DocumentPart,
  path: string,
  target: Target,
  lose: Lose,
): void {
  if (part.type === 'audio' && part.format !== 'wav' && part.format !== 'mp3') {
    lose('content', 'audio_format_unsupported', path, 'Audio must be wav or mp3 for this endpoint.');
  }
  if (part.type === 'video' && !takes(target, 'video_url')) {
    lose('content', 'video_unsupported', path, 'This endpoint does not accept video.');
  }
  if (part.type !== 'document') return;
  if ('text' in part.src || part.title !== undefined || part.context !== undefined) {
    lose('behaviour', 'document_flattened', path, 'The document is sent as text with a header.');
  }
  if (part.citations === true) {
    lose('behaviour', 'citations_unsupported', path, 'This endpoint does not cite documents.');
  }
}

/** Tools that the provider would have to run; a search from another wire is asked for in this one's words. */
function hostedLosses(request: CanonicalRequest, target: Target): Loss[] {
  return (request.tools ?? []).flatMap((tool, i) => {
    const foreign = isForeignSearch(tool, 'openai_chat');
    if (tool.kind !== 'server' || tool.member !== undefined || foreign || runsTool(tool, request, target))
      return [];
    const code = tool.family === 'openai_chat' ? 'server_tool' : 'server_tool_unsupported';
    const message = `Tool '${tool.name}' is not offered here.`;
    return [serverToolLoss(request, tool, { code, param: toolPath(tool, i), message })];
  });
}

/** Whether the endpoint runs `tool`: hosted tools of a compatible server when listed, and thus priced. */
export function runsTool(tool: Tool, _request: CanonicalRequest, target: Target): boolean {
  return (tool.family === 'openai_chat' || tool.search !== undefined) && listsTool(tool, target);
}

function toolLosses(tool: Tool, path: string, lose: Lose): void {
  if (tool.ext !== undefined && Object.keys(tool.ext).length > 0) {
    lose(
      'hint',
      'tool_option_dropped',
      path,
      `Options of tool '${tool.name}' are not sent to this endpoint.`,
    );
  }
}

/** Parts that become a member of their message, which cannot have a breakpoint. */
const UNMARKED: ReadonlySet<Part['type']> = new Set(['reasoning', 'tool_call', 'tool_result']);

function hasLostHint(parts: readonly Part[], written: boolean): boolean {
  return parts.some(
    (part) =>
      (part.cache !== undefined && !(written && !UNMARKED.has(part.type))) ||
      ('content' in part && hasLostHint(part.content, written)),
  );
}

/** One loss for all cache hints, because they are one request. */
function cacheLosses(request: CanonicalRequest, target: Target, lose: Lose): void {
  const written = takes(target, 'prompt_cache_breakpoint') || takes(target, 'cache_control');
  // An endpoint that caches by itself needs no breakpoint: without one nothing is lost.
  if (!written && target.capabilities.cache) return;
  const lost =
    request.cache?.hint !== undefined ||
    request.tools?.some((tool) => tool.cache !== undefined) === true ||
    request.messages.some(({ content }) => hasLostHint(content, written));
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
  const last = request.messages.at(-1);
  if (last?.role === 'assistant' && !target.capabilities.prefill) {
    lose('content', 'prefill_unsupported', 'messages', 'This endpoint cannot continue an assistant message.');
  }
  if ((request.anthropic?.betas.length ?? 0) > 0) {
    lose('hint', 'beta_ignored', 'anthropic-beta', 'Betas of another API are not sent.');
  }
}
