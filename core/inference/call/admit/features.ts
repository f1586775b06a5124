// The properties of a request that decide which endpoints can serve it (routing filters), and that its row shows.
import type { RouteFeatures } from '../../../routing/index.ts';
import { isForced } from '../../canonical/tools/server-tools.ts';
import type { CanonicalRequest, Part } from '../../canonical/types.ts';
import { WEB_SEARCH } from '../../canonical/web-search.ts';
import { taskFeatures } from './task.ts';

/** Output tokens that the price score assumes when the caller gave no cap. */
export const TYPICAL_OUTPUT = 500;

interface Seen {
  images: boolean;
  audio: boolean;
  video: boolean;
  documents: boolean;
}

function look(parts: readonly Part[], seen: Seen): void {
  for (const part of parts) {
    if (part.type === 'image') seen.images = true;
    else if (part.type === 'audio') seen.audio = true;
    else if (part.type === 'video') seen.video = true;
    else if (part.type === 'document' && !('text' in part.src)) seen.documents = true;
    else if (part.type === 'tool_result' || part.type === 'search_result') look(part.content, seen);
  }
}

/**
 * Format of signed reasoning before a tool call that has not been answered yet; endpoints of other formats are then
 * ranked last.
 */
function signedFormat(request: CanonicalRequest): string | null {
  for (let i = request.messages.length - 1; i >= 0; i--) {
    const message = request.messages[i];
    if (message?.role !== 'assistant') continue;
    const signed = message.content.find((part) => part.type === 'reasoning' && part.signature !== undefined);
    return signed?.type === 'reasoning' ? signed.format : null;
  }
  return null;
}

/** Server tools that the model must use, by the names under which endpoints list them; others may be left out. */
function serverTools(request: CanonicalRequest): string[] {
  if (request.svc.compat === 'drop') return [];
  return (request.tools ?? [])
    .filter((tool) => tool.kind === 'server' && tool.member === undefined && isForced(request, tool))
    .map(({ name, search }) => (search === undefined ? name : WEB_SEARCH));
}

/** Features of `request`, whose prompt has at most `input_tokens_bound` tokens. */
export function featuresOf(request: CanonicalRequest, input_tokens_bound: number): RouteFeatures {
  const seen: Seen = { images: false, audio: false, video: false, documents: false };
  for (const message of request.messages) look(message.content, seen);
  const modalities = ['text'];
  if (seen.images) modalities.push('image');
  if (seen.audio) modalities.push('audio');
  if (seen.video) modalities.push('video');
  const max_tokens = request.generation.max_tokens ?? null;
  return {
    modalities_in: modalities,
    // A body member that requests a web search does not require a model with tools; where search is unavailable, the
    // losses say so.
    tools: request.tools?.some(({ member }) => member === undefined) === true,
    json_schema: request.output?.format?.type === 'json_schema',
    images: seen.images,
    audio: seen.audio,
    pdf: seen.documents,
    reasoning: request.reasoning !== undefined && request.reasoning.mode !== 'off',
    server_tools: serverTools(request),
    stream: request.stream,
    input_tokens_bound,
    max_tokens,
    expected_output_tokens: Math.min(max_tokens ?? TYPICAL_OUTPUT, TYPICAL_OUTPUT),
    signed_format: signedFormat(request),
    ...taskFeatures(request),
  };
}
