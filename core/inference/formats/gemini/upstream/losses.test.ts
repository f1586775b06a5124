// What of sampling, output and the rest is written and lost on this family (docs/fidelity.md#losses).
import { describe, expect, test } from 'vitest';
import { codes, target, wire } from '../../../../../test/grammar/gemini-cases.ts';
import type { CanonicalRequest, Part, Tool } from '../../../canonical/types.ts';

const say = (text: string): Part => ({ type: 'text', text });
const user = (...content: Part[]): CanonicalRequest['messages'] => [{ role: 'user', content }];
const hi = user(say('Hi'));
const look = (): Tool => ({ kind: 'function', name: 'look', schema: { type: 'object' } });

describe('generation and output', () => {
  test('everything that the family has is written under its name', () => {
    const generation = {
      ...{ temperature: 1.5, top_p: 0.9, top_k: 40, seed: 7, presence_penalty: 0.1, frequency_penalty: 0.2 },
      ...{ stop: ['a', 'b'], candidates: 2, logprobs: 3 },
    };
    expect(wire({ generation })['generationConfig']).toEqual({
      ...{ maxOutputTokens: 4_096, temperature: 1.5, topP: 0.9, topK: 40, presencePenalty: 0.1 },
      ...{ frequencyPenalty: 0.2, seed: 7, stopSequences: ['a', 'b'], candidateCount: 2 },
      ...{ responseLogprobs: true, logprobs: 3 },
    });
    expect(codes({ generation })).toEqual([]);
  });

  test.each([
    [{ logit_bias: { 1: 2 } }, 'behaviour:sampling_dropped'],
    [{ min_p: 0.1 }, 'behaviour:sampling_dropped'],
    [{ top_a: 0.1 }, 'behaviour:sampling_dropped'],
    [{ repetition_penalty: 1.1 }, 'behaviour:sampling_dropped'],
    [{ seed: 2 ** 40 }, 'behaviour:sampling_dropped'],
    [{ stop: ['1', '2', '3', '4', '5', '6'] }, 'content:stop_too_many'],
    [{ max_tokens: 0 }, 'content:cache_warmup_unsupported'],
  ])('%o is lost', (generation, code) => {
    expect(codes({ generation })).toEqual([code]);
  });

  test('a model that rejects sampling gets none', () => {
    const to = target({}, ['rejects_sampling']);
    expect(wire({ generation: { temperature: 1 } }, to)['generationConfig']).not.toHaveProperty(
      'temperature',
    );
    expect(codes({ generation: { temperature: 1 } }, to)).toEqual(['behaviour:sampling_dropped']);
  });

  test('JSON is asked for by its media type, a schema as it is', () => {
    const schema = { type: 'object', properties: { n: { type: 'integer' } } };
    const json = (type: 'json' | 'json_schema') => ({ output: { format: { type, schema } } });
    expect(wire(json('json'))['generationConfig']).toMatchObject({ responseMimeType: 'application/json' });
    expect(wire(json('json'))['generationConfig']).not.toHaveProperty('responseJsonSchema');
    expect(wire(json('json_schema'))['generationConfig'].responseJsonSchema).toEqual(schema);
    expect([codes(json('json')), codes(json('json_schema'))]).toEqual([[], []]);
    expect(codes(json('json_schema'), target({ json_schema: false }))).toEqual([
      'content:json_schema_unsupported',
    ]);
  });

  test('JSON beside a forced call exists nowhere, beside tools not everywhere', () => {
    const change = { output: { format: { type: 'json' } }, tools: [look()] } as const;
    const old = target({}, ['json_without_tools']);
    const with_tools = { ...change, tools: [look()] };
    expect(codes(with_tools)).toEqual([]);
    expect(codes({ ...with_tools, tool_choice: { type: 'required' } })).toEqual(['content:json_with_tools']);
    expect(codes(with_tools, old)).toEqual(['content:json_with_tools']);
    expect(codes({ ...with_tools, tool_choice: { type: 'none' } }, old)).toEqual([]);
  });

  test('images and audio come from endpoints that list them', () => {
    const output = { modalities: ['text', 'audio'], audio: { voice: 'Kore', format: 'wav' } };
    const to = target({ parameters: ['modalities'] });
    expect(wire({ output }, to)['generationConfig']).toMatchObject({
      responseModalities: ['TEXT', 'AUDIO'],
      speechConfig: { voiceConfig: { prebuiltVoiceConfig: { voiceName: 'Kore' } } },
    });
    expect(codes({ output }, to)).toEqual(['behaviour:audio_format_dropped']);
    expect(codes({ output })).toEqual(['content:modality_unsupported']);
  });

  test('what has no place here is reported', () => {
    expect(codes({ output: { verbosity: 'low' } })).toEqual(['behaviour:verbosity_dropped']);
    expect(codes({ service_tier: 'flex' })).toEqual(['behaviour:service_tier_ignored']);
    expect(codes({ ext: { prediction: {} } })).toEqual(['hint:prediction_dropped']);
    expect(codes({ ext: { brand_new: 1 } })).toEqual(['behaviour:unknown_parameter_dropped']);
    expect(codes({ anthropic: { betas: ['b'] } })).toEqual(['hint:beta_ignored']);
    const cached = user({ type: 'text', text: 'x', cache: { ttl: '1h' } });
    expect(codes({ messages: cached })).toEqual(['hint:cache_hint_dropped']);
    const named = [{ role: 'user' as const, name: 'ann', content: [say('x')] }];
    expect(codes({ messages: named })).toEqual(['hint:name_dropped']);
    const prefill = [...hi, { role: 'assistant' as const, content: [say('So')] }];
    expect(codes({ messages: prefill })).toEqual([]);
    expect(codes({ messages: prefill }, target({ prefill: false }))).toEqual(['content:prefill_unsupported']);
  });
});
