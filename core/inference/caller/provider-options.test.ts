// What `svc.provider_options` may not do: change what a call was held, priced, routed or isolated by.
import { describe, expect, test } from 'vitest';
import { ServiceError } from '../../kernel/index.ts';
import { readSvc } from './svc.ts';

function refused(json: string): string | null {
  try {
    readSvc({ svc: { provider_options: JSON.parse(json) } }, {});
    return null;
  } catch (error) {
    return error instanceof ServiceError ? error.code : 'crashed';
  }
}

describe('provider options', () => {
  test('of a provider named __proto__ are nobody else’s', () => {
    const json = '{"__proto__":{"openai":{"model":"pricier","n":8}}}';
    const { provider_options } = readSvc({ svc: { provider_options: JSON.parse(json) } }, {});
    expect(provider_options['openai']).toBeUndefined();
    expect(Object.getPrototypeOf(provider_options)).toBe(Object.prototype);
    expect(Object.keys(provider_options)).toEqual(['__proto__']);
  });

  test.each([
    // Another model, other content or another number of answers, in the words of each wire.
    '{"models":["pricier"]}',
    '{"provider":{"sort":"throughput"}}',
    '{"fallbacks":[{"model":"pricier"}]}',
    '{"systemInstruction":{"parts":[{"fileData":{"fileUri":"files/another"}}]}}',
    '{"system_instruction":{}}',
    '{"cachedContent":"cachedContents/another"}',
    '{"promptVariables":{}}',
    '{"generationConfig":{"candidate_count":4}}',
    '{"inferenceConfig":{"maxTokens":9}}',
    '{"additionalModelRequestFields":{"n":4}}',
    '{"additionalModelRequestFields":{"numResults":4}}',
    '{"additionalModelRequestFields":{"inferenceConfig":{"max_new_tokens":4}}}',
    '{"num_generations":4}',
    // Output and services with prices of their own.
    '{"modalities":["text","audio"]}',
    '{"generationConfig":{"responseModalities":["IMAGE"]}}',
    '{"tools":[{"googleSearch":{}}]}',
    '{"additionalModelRequestFields":{"tools":[{"type":"web_search_20250305"}]}}',
    '{"web_search_options":{}}',
    '{"search_parameters":{"mode":"on"}}',
    '{"plugins":[{"id":"web"}]}',
    '{"mcp_servers":[]}',
    '{"performanceConfig":{"latency":"optimized"}}',
    '{"guardrailConfig":{"guardrailIdentifier":"other"}}',
    '{"inference_geo":"us"}',
  ])('may not say %s', (options) => {
    expect(refused(`{"acme":${options}}`)).toBe('unsupported_parameter');
  });

  test.each([
    '{"top_k":5,"generationConfig":{"topK":3,"thinkingConfig":{"thinkingBudget":512}}}',
    '{"thinking":{"type":"enabled","budget_tokens":2048}}',
    '{"additionalModelRequestFields":{"thinking":{"type":"enabled","budget_tokens":2048}}}',
    '{"safetySettings":[{"category":"a","threshold":"b"}]}',
    '{"reasoning":{"summary":"auto"},"truncation":"auto"}',
  ])('may say %s', (options) => {
    expect(refused(`{"acme":${options}}`)).toBeNull();
  });
});
