// Sampling, output and reasoning of column `bedrock_converse` of docs/compatibility.md.
import { describe, expect, test } from 'vitest';
import type { JsonObject } from '../../../../kernel/index.ts';
import type { EncodeOptions, Target } from '../../../canonical/contract.ts';
import type { CanonicalRequest } from '../../../canonical/types.ts';
import { encodeRequest } from './encode.ts';
import { findLosses } from './losses.ts';
import { requestOf, targetOf } from './test-kit.ts';

const options: EncodeOptions = { stream: true, max_tokens: null, user: null, cache_key: null, extra: {} };

function sent(request: CanonicalRequest, target = targetOf(), more: Partial<EncodeOptions> = {}): JsonObject {
  return JSON.parse(encodeRequest(request, target, { ...options, ...more }).body.toString()) as JsonObject;
}
function textOf(request: CanonicalRequest, target = targetOf()): string {
  return encodeRequest(request, target, options).body.toString();
}
function lost(request: CanonicalRequest, target: Target = targetOf()): string[] {
  return findLosses(request, target).map((loss) => `${loss.class} ${loss.code} ${loss.param}`);
}
const other = targetOf({}, { upstream_model: 'meta.llama3-70b-instruct-v1:0' });

describe('generation', () => {
  test('the common fields, clamped to the API’s range', () => {
    const generation = { temperature: 1.7, top_p: 0.5, top_k: 7, stop: ['a', 'b'] };
    const wire = sent(requestOf({ generation }), targetOf(), { max_tokens: 9 });
    expect(wire['inferenceConfig']).toEqual({
      maxTokens: 9,
      temperature: 1,
      topP: 0.5,
      stopSequences: ['a', 'b'],
    });
    expect(wire['additionalModelRequestFields']).toEqual({ top_k: 7 });
    expect(wire['additionalModelResponseFieldPaths']).toEqual(['/delta/stop_sequence']);
    expect(lost(requestOf({ generation }))).toEqual(['behaviour temperature_clamped temperature']);
    const nova = targetOf({}, { upstream_model: 'amazon.nova-pro-v1:0' });
    expect(sent(requestOf({ generation }), nova)['additionalModelRequestFields']).toEqual({
      inferenceConfig: { topK: 7 },
    });
    expect(lost(requestOf({ generation: { top_k: 7 } }), other)).toEqual([
      'behaviour sampling_dropped top_k',
    ]);
  });

  test('what has no field is reported', () => {
    const generation = { seed: 1, frequency_penalty: 1, presence_penalty: 1, logit_bias: {}, min_p: 0.1 };
    expect(lost(requestOf({ generation })).map((loss) => loss.split(' ')[2])).toEqual([
      'frequency_penalty',
      'presence_penalty',
      'seed',
      'logit_bias',
      'min_p',
    ]);
    expect(lost(requestOf({ generation: { logprobs: 2, candidates: 2 } }))).toEqual([
      'content logprobs_unsupported logprobs',
      'content candidates_unsupported n',
    ]);
    expect(lost(requestOf({ output: { verbosity: 'low', modalities: ['text', 'audio'] } }))).toEqual([
      'content modality_unsupported modalities',
      'behaviour verbosity_dropped verbosity',
    ]);
    expect(lost(requestOf({ user: 'u', service_tier: 'scale', ext: { prediction: {} } }))).toEqual([
      'hint prediction_dropped prediction',
      'behaviour service_tier_ignored service_tier',
      'hint user_dropped user',
    ]);
  });

  test('a schema travels as text, without one the instruction asks for JSON', () => {
    const format = { type: 'json_schema', name: 'n', schema: { type: 'object' } } as const;
    expect(sent(requestOf({ output: { format } }))['outputConfig']).toEqual({
      textFormat: {
        type: 'json_schema',
        structure: { jsonSchema: { schema: '{"type":"object"}', name: 'n' } },
      },
    });
    expect(lost(requestOf({ output: { format } }), targetOf({ json_schema: false }))).toEqual([
      'content json_schema_unsupported response_format',
    ]);
    const json = requestOf({ output: { format: { type: 'json' } } });
    expect(sent(json)['system']).toEqual([{ text: expect.stringMatching(/JSON object/) }]);
    expect(lost(json)).toEqual(['behaviour json_object_as_instruction response_format']);
  });

  test('reasoning in the words of each maker', () => {
    const effort = requestOf({ reasoning: { effort: 'high' } });
    const budget = requestOf({ reasoning: { max_tokens: 2_000 } });
    expect(sent(budget)).toMatchObject({
      inferenceConfig: { maxTokens: 16_384 },
      additionalModelRequestFields: { thinking: { type: 'enabled', budget_tokens: 2_000 } },
    });
    const adaptive = targetOf({ reasoning_controls: ['adaptive', 'effort'] });
    expect(sent(effort, adaptive)).toMatchObject({
      outputConfig: { effort: 'high' },
      additionalModelRequestFields: { thinking: { type: 'adaptive' } },
    });
    const of = (upstream_model: string) => targetOf({ reasoning_controls: ['effort'] }, { upstream_model });
    expect(sent(effort, of('openai.gpt-oss-120b-1:0'))['additionalModelRequestFields']).toEqual({
      reasoning_effort: 'high',
    });
    const nova = of('us.amazon.nova-2-lite-v1:0');
    expect(sent(effort, nova)['additionalModelRequestFields']).toEqual({
      reasoningConfig: { type: 'enabled', maxReasoningEffort: 'medium' },
    });
    expect(lost(effort, nova)).toEqual(['behaviour effort_adjusted reasoning']);
    expect(sent(effort, of('deepseek.v3-v1:0'))['outputConfig']).toEqual({ effort: 'high' });
    expect(
      lost(effort, targetOf({ reasoning: false, reasoning_controls: [] }, { upstream_model: 'meta.llama' })),
    ).toEqual(['behaviour reasoning_dropped reasoning']);
    const off = requestOf({ reasoning: { mode: 'off' } });
    expect(lost(off, of('openai.gpt-oss-120b-1:0'))).toEqual(['behaviour reasoning_not_disabled reasoning']);
    expect(lost(off)).toEqual([]);
  });

  test('while a model of Anthropic reasons it is sent no sampling, and the loss is reported', () => {
    const request = requestOf({
      reasoning: { max_tokens: 2_000 },
      generation: { temperature: 0.2, top_k: 4 },
    });
    expect(textOf(request)).not.toMatch(/temperature|top_k/);
    expect(lost(request)).toEqual([
      'behaviour sampling_dropped temperature',
      'behaviour sampling_dropped top_k',
    ]);
  });

  test('betas go to models of Anthropic that list them', () => {
    const request = requestOf({ dialect: 'messages', anthropic: { betas: ['a-1', 'b-1'] } });
    const listing = targetOf({ betas: ['a-1'] });
    expect(sent(request, listing)['additionalModelRequestFields']).toEqual({ anthropic_beta: ['a-1'] });
    expect(lost(request, listing)).toEqual(['hint beta_ignored anthropic-beta']);
  });

  test('the caller’s own members come last, and its additional fields join ours', () => {
    const extra = {
      guardrailConfig: { guardrailIdentifier: 'g' },
      additionalModelRequestFields: { top_k: 1, x: 2 },
    };
    const wire = sent(requestOf({ generation: { top_k: 9 } }), targetOf(), { extra });
    expect(wire).toMatchObject({
      guardrailConfig: { guardrailIdentifier: 'g' },
      additionalModelRequestFields: { top_k: 1, x: 2 },
    });
  });

  test('a service tier is sent where it has a price', () => {
    expect(sent(requestOf({ service_tier: 'flex' }))['serviceTier']).toEqual({ type: 'flex' });
    expect(lost(requestOf({ service_tier: 'flex' }), targetOf({ parameters: [] }))).toEqual([
      'behaviour service_tier_ignored service_tier',
    ]);
  });
});
