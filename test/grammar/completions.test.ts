import { describe, expect, it } from 'vitest';
import { checkCompletionsStream } from './completions.ts';

const chunk = (text: string, finish = 'null', more = '', index = 0): string =>
  `data: {"id":"R","object":"text_completion","created":1,"model":"m","choices":[{"index":${index},"text":"${text}",` +
  `"logprobs":null,"finish_reason":${finish}}]${more}}\n\n`;
const done = 'data: [DONE]\n\n';
const end = `${chunk('', '"stop"', ',"svc":{}')}${done}`;
const error = `data: {"error":{"code":"internal"},"svc":{}}\n\n`;
const faults = (bytes: string, include_usage = false) => checkCompletionsStream(bytes, { include_usage });

describe('the grammar checker of text completions', () => {
  it('accepts legal streams', () => {
    expect(faults(chunk('a') + end)).toEqual([]);
    expect(faults(end)).toEqual([]);
    expect(faults(`${chunk('a')}${error}${done}`)).toEqual([]);
    const usage =
      'data: {"id":"R","object":"text_completion","created":1,"model":"m","choices":[],"usage":{"total_tokens":2},"svc":{}}\n\n';
    const none = ',"usage":null';
    expect(faults(chunk('a', 'null', none) + chunk('', '"stop"', none) + usage + done, true)).toEqual([]);
    expect(
      faults(chunk('a', 'null', none) + chunk('', '"stop"', `${none},"svc":{}`) + done, true),
    ).not.toEqual([]);
  });

  it.each<[string, string]>([
    ['no end mark', chunk('a') + chunk('', '"stop"', ',"svc":{}')],
    ['no finish', chunk('a', 'null', ',"svc":{}') + done],
    ['finish with text', chunk('a', '"stop"', ',"svc":{}') + done],
    ['text after the finish', chunk('', '"stop"') + chunk('a') + end],
    ['a finish of chat', chunk('', '"tool_calls"', ',"svc":{}') + done],
    ['no svc', chunk('', '"stop"') + done],
    ['a chunk after svc', chunk('', '"stop"', ',"svc":{}') + chunk('a', 'null', '', 1) + done],
    ['an open second choice', chunk('a', 'null', '', 1) + end],
    ['usage unasked', chunk('a', 'null', ',"usage":null') + end],
    ['a delta of chat', chunk('a').replace('"text"', '"delta":{},"text"') + end],
    ['another id', chunk('a').replace('"R"', '"S"') + end],
    ['something after the end', chunk('a') + end + done],
    ['a chunk after the error', error + chunk('a') + done],
  ])('finds %s', (_name, bytes) => {
    expect(faults(bytes)).not.toEqual([]);
  });
});
