// A canonical request as this family's body (docs/compatibility.md), written as text so that schemas and arguments
// keep their bytes.
import { isObject, type JsonObject } from '../../../../kernel/index.ts';
import type { EncodeOptions, Target, UpstreamRequest } from '../../../canonical/contract.ts';
import { splitSystem } from '../../../canonical/instructions.ts';
import type { CanonicalRequest } from '../../../canonical/types.ts';
import { callNames, writeContents, writeSystem } from './content.ts';
import { detailsOf, isInt32, STOP_MAX, takesModalities } from './losses.ts';
import { planThinking, takesLevel } from './thinking.ts';
import { writeTools } from './tools.ts';

function pathOf(model: string, stream: boolean): string {
  // Tuned models have a collection of their own in their name.
  const name = model.includes('/') ? model : `models/${model}`;
  const path = name.split('/').map(encodeURIComponent).join('/');
  return `/${path}:${stream ? 'streamGenerateContent?alt=sse' : 'generateContent'}`;
}

const SAMPLING = [
  ['temperature', 'temperature'],
  ['top_p', 'topP'],
  ['top_k', 'topK'],
  ['presence_penalty', 'presencePenalty'],
  ['frequency_penalty', 'frequencyPenalty'],
] as const;

function writeSampling(request: CanonicalRequest, target: Target, config: Map<string, string>): void {
  const wish = request.generation;
  if (!target.flags.includes('rejects_sampling')) {
    for (const [name, wire] of SAMPLING) {
      const value = wish[name];
      if (value !== undefined) config.set(wire, String(value));
    }
  }
  if (wish.seed !== undefined && isInt32(wish.seed)) config.set('seed', String(wish.seed));
  if (wish.stop !== undefined && wish.stop.length > 0) {
    config.set('stopSequences', JSON.stringify(wish.stop.slice(0, STOP_MAX)));
  }
  if ((wish.candidates ?? 1) > 1) config.set('candidateCount', String(wish.candidates));
  if (wish.logprobs === undefined) return;
  config.set('responseLogprobs', 'true');
  if (wish.logprobs > 0) config.set('logprobs', String(wish.logprobs));
}

function writeOutput(request: CanonicalRequest, target: Target, config: Map<string, string>): void {
  const { output } = request;
  const format = output?.format;
  if (format?.type === 'json' || (format?.type === 'json_schema' && target.capabilities.json_schema)) {
    config.set('responseMimeType', '"application/json"');
    if (format.type === 'json_schema') config.set('responseJsonSchema', JSON.stringify(format.schema ?? {}));
  }
  if (output?.modalities !== undefined && takesModalities(target)) {
    config.set('responseModalities', JSON.stringify(output.modalities.map((name) => name.toUpperCase())));
    const voice = output.audio?.['voice'];
    if (typeof voice === 'string') {
      const named = `{"prebuiltVoiceConfig":{"voiceName":${JSON.stringify(voice)}}}`;
      config.set('speechConfig', `{"voiceConfig":${named}}`);
    }
  }
  // One resolution for all images: the finest that is asked for.
  const details = detailsOf(request);
  if (details.has('high') || details.has('original'))
    config.set('mediaResolution', '"MEDIA_RESOLUTION_HIGH"');
  else if (details.has('low') && details.size === 1) config.set('mediaResolution', '"MEDIA_RESOLUTION_LOW"');
}

const HELD_FOR = new Set(['maxOutputTokens', 'max_output_tokens', 'candidateCount', 'candidate_count']);

/** The caller's options for this provider; what was held for stays as it was written. */
function merge(members: Map<string, string>, config: Map<string, string>, extra: JsonObject): void {
  for (const [name, value] of Object.entries(extra)) {
    // The API takes both spellings; a second object must not stand beside ours, whichever of them it would read.
    const own = name === 'generation_config' ? 'generationConfig' : name;
    if (own !== 'generationConfig' || !isObject(value)) {
      members.set(own, JSON.stringify(value));
      continue;
    }
    for (const [key, member] of Object.entries(value)) {
      if (!HELD_FOR.has(key)) config.set(key, JSON.stringify(member));
    }
  }
}

function textOf(members: ReadonlyMap<string, string>): string {
  const texts: string[] = [];
  for (const [name, text] of members) texts.push(`${JSON.stringify(name)}:${text}`);
  return `{${texts.join(',')}}`;
}

/** The request for `target`; what `findLosses` named is left out here. Media must be bytes by now (`inlines`). */
export function encodeRequest(
  request: CanonicalRequest,
  target: Target,
  options: EncodeOptions,
): UpstreamRequest {
  const { system, rest } = splitSystem(request.messages);
  const context = { target, names: callNames(rest), wants_signature: takesLevel(target) };
  const members = new Map<string, string>([['contents', `[${writeContents(rest, context).join(',')}]`]]);
  const instruction = writeSystem(system);
  if (instruction !== null) members.set('systemInstruction', instruction);
  writeTools(request, target, members);
  const config = new Map<string, string>();
  if (options.max_tokens !== null) config.set('maxOutputTokens', String(options.max_tokens));
  writeSampling(request, target, config);
  writeOutput(request, target, config);
  const { config: thinking } = planThinking(
    request,
    target,
    options.max_tokens ?? target.capabilities.max_output,
  );
  if (thinking !== null) config.set('thinkingConfig', thinking);
  merge(members, config, options.extra);
  if (config.size > 0) members.set('generationConfig', textOf(config));
  return {
    path: pathOf(target.upstream_model, options.stream),
    headers: [],
    body: Buffer.from(textOf(members)),
  };
}
