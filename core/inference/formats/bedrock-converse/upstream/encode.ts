// Writes a canonical request as the body of `POST /model/{id}/converse[-stream]` (docs/compatibility.md), as text so
// that schemas and arguments keep their bytes.
import { isObject, type JsonObject } from '../../../../kernel/index.ts';
import type { EncodeOptions, Target, UpstreamRequest } from '../../../canonical/contract.ts';
import { parameters, withCap } from '../../../canonical/parameters.ts';
import { outputPreferences } from '../../../canonical/preferences.ts';
import { applyRules, textsBelow } from '../../../canonical/rules.ts';
import type { CanonicalRequest } from '../../../canonical/types.ts';
import { listedBetas } from '../../anthropic-messages/words/betas.ts';
import { capOf } from '../../anthropic-messages/words/thinking.ts';
import { contentContext, splitSystem, writeMessages, writeSystem } from './content.ts';
import { makerOf } from './model.ts';
import { factsOf, GENERATION, OUTPUT } from './parameters.ts';
import { planReasoning, type ReasoningPlan } from './reasoning.ts';
import { SEQUENCE_PATHS } from './stop.ts';
import { writeTools } from './tools.ts';

/** Service tiers of the API besides the default one. */
export const TIERS: readonly string[] = ['flex', 'priority'];

type Members = Map<string, string>;

function objectText(members: Members): string {
  const texts: string[] = [];
  for (const [name, json] of members) texts.push(`${JSON.stringify(name)}:${json}`);
  return `{${texts.join(',')}}`;
}

/** Number of cache hints in `request`; each needs a cache point. */
export function cacheHints(request: CanonicalRequest): number {
  let n = request.cache?.hint === undefined ? 0 : 1;
  for (const tool of request.tools ?? []) if (tool.cache !== undefined) n++;
  for (const { content } of request.messages) {
    for (const part of content) {
      const inner = part.type === 'tool_result' && part.content.some(({ cache }) => cache !== undefined);
      if (part.cache !== undefined || inner) n++;
    }
  }
  return n;
}

function additionalFields(
  request: CanonicalRequest,
  target: Target,
  plan: ReasoningPlan,
  sampling: ReadonlyMap<string, unknown>,
): Members {
  const fields: Members = textsBelow(sampling, 'additionalModelRequestFields');
  if (plan.field !== null) fields.set(...plan.field);
  if (makerOf(target) === 'anthropic') {
    const betas = listedBetas(request, target);
    if (betas.length > 0) fields.set('anthropic_beta', JSON.stringify(betas));
  }
  return fields;
}

function outputConfig(output: ReadonlyMap<string, unknown>, effort: string | null): Members {
  const config: Members = new Map();
  if (effort !== null) config.set('effort', `"${effort}"`);
  for (const [name, text] of textsBelow(output, 'outputConfig')) config.set(name, text);
  return config;
}

/**
 * Adds the caller's own members for this provider at the end; objects are merged with ours instead of replacing them.
 */
function addExtra(members: Members, ours: Readonly<Record<string, Members>>, extra: JsonObject): void {
  for (const [name, value] of Object.entries(extra)) {
    const joined = Object.hasOwn(ours, name) ? ours[name] : undefined;
    if (joined === undefined || !isObject(value)) {
      members.set(name, JSON.stringify(value));
      continue;
    }
    for (const [inner, member] of Object.entries(value)) {
      // Money is held for the cap, so the caller cannot change it here.
      if (inner !== 'maxTokens') joined.set(inner, JSON.stringify(member));
    }
  }
}

/** Path of `model`, whose id may be an ARN with colons and slashes. */
export function conversePath(model: string, stream: boolean): string {
  return `/model/${encodeURIComponent(model)}/${stream ? 'converse-stream' : 'converse'}`;
}

function setUnlessEmpty(members: Members, name: string, inner: Members): void {
  if (inner.size > 0) members.set(name, objectText(inner));
}

/** The request for `target`; what `losses` reported is left out. @throws ServiceError invalid_media */
export function encodeRequest(
  request: CanonicalRequest,
  target: Target,
  options: EncodeOptions,
): UpstreamRequest {
  const plan = planReasoning(request, target, options.max_tokens ?? capOf(request, target));
  const context = contentContext(target, cacheHints(request));
  const facts = factsOf(target, plan);
  const cap = options.max_tokens ?? (plan.budget ? capOf(request, target) : null);
  const sampling = applyRules(parameters, GENERATION, withCap(request.generation, cap), facts).sent;
  const output = applyRules(outputPreferences, OUTPUT, request.output ?? {}, facts).sent;
  const members: Members = new Map();
  const tools = writeTools(request, context);
  const { system, rest } = splitSystem(request.messages);
  const blocks = writeSystem(system, context);
  const instruction = output.get('system');
  if (instruction !== undefined) blocks.push(`{"text":${JSON.stringify(instruction)}}`);
  if (blocks.length > 0) members.set('system', `[${blocks.join(',')}]`);
  members.set('messages', `[${writeMessages(rest, context, request.cache?.hint).join(',')}]`);
  if (tools.config !== null) members.set('toolConfig', tools.config);
  const inference = textsBelow(sampling, 'inferenceConfig');
  setUnlessEmpty(members, 'outputConfig', outputConfig(output, plan.effort));
  const tier = request.service_tier;
  if (tier !== undefined && TIERS.includes(tier) && target.capabilities.parameters.includes('service_tier')) {
    members.set('serviceTier', `{"type":"${tier}"}`);
  }
  const additional = additionalFields(request, target, plan, sampling);
  if (tools.additional !== null) additional.set('tool_choice', tools.additional);
  if (makerOf(target) === 'anthropic' && (request.generation.stop?.length ?? 0) > 1) {
    members.set(
      'additionalModelResponseFieldPaths',
      JSON.stringify([SEQUENCE_PATHS[options.stream ? 1 : 0]]),
    );
  }
  const ours = { inferenceConfig: inference, additionalModelRequestFields: additional };
  addExtra(members, ours, options.extra);
  for (const [name, inner] of Object.entries(ours)) setUnlessEmpty(members, name, inner);
  return {
    path: conversePath(target.upstream_model, options.stream),
    headers: [],
    body: Buffer.from(objectText(members)),
  };
}
