// What the Gemini API refuses: unknown names at any depth, turns out of order, missing signatures.

import type { JsonBody, WireError } from '../wire.ts';
import { partsOf, signCall } from './gemini.ts';

type JsonList = JsonBody[];

const known = {
  // `model` and `stream` come from the path; the server adds them.
  body: new Set([
    ...['model', 'stream', 'contents', 'systemInstruction', 'tools', 'toolConfig', 'generationConfig'],
    ...['safetySettings', 'cachedContent', 'labels', 'serviceTier'],
  ]),
  generationConfig: new Set([
    ...['temperature', 'topP', 'topK', 'candidateCount', 'maxOutputTokens', 'stopSequences', 'seed'],
    ...['presencePenalty', 'frequencyPenalty', 'responseLogprobs', 'logprobs', 'responseMimeType'],
    ...['responseSchema', 'responseJsonSchema', 'responseModalities', 'mediaResolution', 'speechConfig'],
    ...['thinkingConfig'],
  ]),
  part: new Set([
    ...['text', 'thought', 'thoughtSignature', 'inlineData', 'fileData', 'functionCall', 'functionResponse'],
    ...['executableCode', 'codeExecutionResult', 'videoMetadata', 'mediaResolution'],
  ]),
};
const FOREIGN = 'skip_thought_signature_validator';

function invalid(message: string): WireError {
  return { status: 400, message };
}

function unknownName(object: JsonBody, names: ReadonlySet<string>, at: string): WireError | null {
  const name = Object.keys(object).find((key) => !names.has(key));
  if (name === undefined) return null;
  return invalid(`Invalid JSON payload received. Unknown name "${name}" at '${at}': Cannot find field.`);
}

/** What is wrong with a request; null if nothing is. */
export function checkGemini(body: JsonBody): WireError | null {
  const model = body['model'] as string;
  if (model.startsWith('missing')) {
    return { status: 404, message: `models/${model} is not found for API version v1beta.` };
  }
  const contents = body['contents'];
  if (!Array.isArray(contents) || contents.length === 0) {
    return invalid('GenerateContentRequest.contents: contents is not specified');
  }
  const config = (body['generationConfig'] as JsonBody | undefined) ?? {};
  return (
    unknownName(body, known.body, '') ??
    unknownName(config, known.generationConfig, 'generation_config') ??
    checkConfig(config) ??
    checkContents(contents as JsonList, model)
  );
}

function checkConfig(config: JsonBody): WireError | null {
  if (Number(config['temperature'] ?? 0) > 2) return invalid('temperature must be in the range [0.0, 2.0]');
  if (((config['stopSequences'] as unknown[] | undefined) ?? []).length > 5) {
    return invalid('stopSequences: at most 5');
  }
  const thinking = config['thinkingConfig'] as JsonBody | undefined;
  if (thinking?.['thinkingLevel'] !== undefined && thinking['thinkingBudget'] !== undefined) {
    return invalid('You can only set only one of thinking budget and thinking level.');
  }
  return null;
}

function checkContents(contents: JsonList, model: string): WireError | null {
  let calls = 0;
  for (const [i, content] of contents.entries()) {
    const parts = partsOf(content);
    if (parts.length === 0) return invalid(`contents[${i}].parts must not be empty.`);
    if (content['role'] !== 'user' && content['role'] !== 'model') {
      return invalid('Please use a valid role: user, model.');
    }
    for (const [j, part] of parts.entries()) {
      const fault =
        unknownName(part, known.part, `contents[${i}].parts[${j}]`) ?? checkSignature(part, { i, j });
      if (fault !== null) return fault;
    }
    const responses = parts.filter((part) => part['functionResponse'] !== undefined).length;
    if (responses !== calls && (responses > 0 || calls > 0)) {
      return invalid(
        'Please ensure that the number of function response parts is equal to the number of function call parts ' +
          'of the function call turn.',
      );
    }
    const called = parts.filter((part) => part['functionCall'] !== undefined);
    calls = called.length;
    if (model.startsWith('gemini-3') && calls > 0 && called[0]?.['thoughtSignature'] === undefined) {
      return invalid('Function call is missing a thought_signature in functionCall parts.');
    }
  }
  return null;
}

function checkSignature(part: JsonBody, at: { i: number; j: number }): WireError | null {
  const call = part['functionCall'] as JsonBody | undefined;
  const signature = part['thoughtSignature'];
  if (call === undefined || signature === undefined || signature === FOREIGN) return null;
  if (signature === signCall(call['name'], call['args'])) return null;
  return invalid(`contents[${at.i}].parts[${at.j}]: Thought signature is not valid.`);
}
