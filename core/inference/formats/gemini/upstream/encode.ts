// Writes a canonical request as this family's body (docs/compatibility.md), as text so that schemas and arguments
// keep their bytes.
import { isObject, type JsonObject } from '../../../../kernel/index.ts';
import type { EncodeOptions, Target, UpstreamRequest } from '../../../canonical/contract.ts';
import { splitSystem } from '../../../canonical/instructions.ts';
import { parameters, withCap } from '../../../canonical/parameters.ts';
import { outputPreferences } from '../../../canonical/preferences.ts';
import { applyRules, textsBelow } from '../../../canonical/rules.ts';
import type { CanonicalRequest } from '../../../canonical/types.ts';
import { callNames, writeContents, writeSystem } from './content.ts';
import { detailsOf } from './losses.ts';
import { GENERATION, OUTPUT } from './parameters.ts';
import { planThinking, takesLevel } from './thinking.ts';
import { writeTools } from './tools.ts';

function pathOf(model: string, stream: boolean): string {
  // The names of tuned models include their own collection.
  const name = model.includes('/') ? model : `models/${model}`;
  const path = name.split('/').map(encodeURIComponent).join('/');
  return `/${path}:${stream ? 'streamGenerateContent?alt=sse' : 'generateContent'}`;
}

function writeDetail(request: CanonicalRequest, config: Map<string, string>): void {
  // One resolution applies to all images: the finest that any of them asks for.
  const details = detailsOf(request);
  if (details.has('high') || details.has('original'))
    config.set('mediaResolution', '"MEDIA_RESOLUTION_HIGH"');
  else if (details.has('low') && details.size === 1) config.set('mediaResolution', '"MEDIA_RESOLUTION_LOW"');
}

const HELD_FOR = new Set(['maxOutputTokens', 'max_output_tokens', 'candidateCount', 'candidate_count']);

/** Adds the caller's options for this provider. They may not change the caps that money is held for. */
function merge(members: Map<string, string>, config: Map<string, string>, extra: JsonObject): void {
  for (const [name, value] of Object.entries(extra)) {
    // The API accepts both spellings; with two objects it would be unclear which one it reads, so the caller's is
    // merged into ours.
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

/** The request for `target`; what `findLosses` reported is left out. Media are bytes by now (`inlines`). */
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
  const asked = withCap(request.generation, options.max_tokens);
  const { output = {} } = request;
  const config = new Map([
    ...textsBelow(applyRules(parameters, GENERATION, asked, { target }).sent, 'generationConfig'),
    ...textsBelow(applyRules(outputPreferences, OUTPUT, output, { target, output }).sent, 'generationConfig'),
  ]);
  writeDetail(request, config);
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
