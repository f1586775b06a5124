import { describe, expect, it } from 'vitest';
import { checkChatStream } from './chat.ts';

const head = '"id":"R","object":"chat.completion.chunk","created":1,"model":"m"';
const chunk = (delta: string, finish = 'null', more = ''): string =>
  `data: {${head},"choices":[{"index":0,"delta":{${delta}},"logprobs":null,"finish_reason":${finish}}]${more}}\n\n`;
const role = chunk('"role":"assistant","content":""');
const text = chunk('"content":"a"');
const end = `${chunk('', '"stop"', ',"svc":{}')}data: [DONE]\n\n`;
const error =
  '{"message":"m","type":"api_error","code":"internal","param":null,"request_id":"R","details":{}}';
const call = (index: number, body: string): string => chunk(`"tool_calls":[{"index":${index},${body}}]`);
const start = (index: number): string =>
  call(index, '"id":"c","type":"function","function":{"name":"f","arguments":""}');

const faults = (bytes: string, include_usage = false): string[] => checkChatStream(bytes, { include_usage });

describe('the grammar checker', () => {
  it('accepts legal streams', () => {
    expect(faults(role + text + end)).toEqual([]);
    expect(
      faults(
        `: svc keep-alive\n\n${role}${start(0)}${call(0, '"function":{"arguments":"{}"}')}${start(1)}${end}`,
      ),
    ).toEqual([]);
    expect(faults(`${role}data: {"error":${error},"svc":{}}\n\ndata: [DONE]\n\n`)).toEqual([]);
  });

  it.each<[string, string]>([
    ['no end mark', role + text + chunk('', '"stop"', ',"svc":{}')],
    ['something after the end mark', role + text + end + text],
    ['no role', text + end],
    ['a second role', role + role + end],
    ['no finish', `${role}${chunk('"content":"a"', 'null', ',"svc":{}')}data: [DONE]\n\n`],
    ['finish with content', `${role}${chunk('"content":"a"', '"stop"', ',"svc":{}')}data: [DONE]\n\n`],
    ['content after finish', role + chunk('', '"stop"') + text + end],
    ['an unknown finish', `${role}${chunk('', '"error"', ',"svc":{}')}data: [DONE]\n\n`],
    ['no svc', `${role}${chunk('', '"stop"')}data: [DONE]\n\n`],
    ['svc before the last chunk', role + chunk('"content":"a"', 'null', ',"svc":{}') + end],
    ['usage that was not asked for', role + chunk('"content":"a"', 'null', ',"usage":null') + end],
    ['another id', role + text.replace('"R"', '"S"') + end],
    ['carriage returns', (role + text + end).replaceAll('\n', '\r\n')],
    ['an event name', role + text.replace('data:', 'event: x\ndata:') + end],
    ['broken JSON', `${role}data: {\n\n${end}`],
    ['reasoning after text', role + text + chunk('"reasoning_content":"x"') + end],
    ['call index that skips', role + start(1) + end],
    ['an earlier call resumed', role + start(0) + start(1) + call(0, '"function":{"arguments":"{}"}') + end],
    ['a call without id', role + call(0, '"type":"function","function":{"name":"f","arguments":""}') + end],
    [
      'a call that starts with arguments',
      role + start(0).replace('"arguments":""', '"arguments":"{}"') + end,
    ],
    ['a name sent twice', role + start(0) + call(0, '"function":{"name":"f","arguments":""}') + end],
    ['an error with choices', `${role}data: {"error":${error},"svc":{},"choices":[]}\n\ndata: [DONE]\n\n`],
    ['an error without svc', `${role}data: {"error":${error}}\n\ndata: [DONE]\n\n`],
    ['a chunk after the error', `${role}data: {"error":${error},"svc":{}}\n\n${text}data: [DONE]\n\n`],
  ])('finds %s', (_name, bytes) => {
    expect(faults(bytes)).not.toEqual([]);
  });

  it('finds missing and misplaced usage when usage was asked for', () => {
    const nulls = (bytes: string): string => bytes.replaceAll('}]', '}],"usage":null');
    const usage = `data: {${head},"choices":[],"usage":{"prompt_tokens":1,"completion_tokens":1,"total_tokens":2},"svc":{}}\n\n`;
    const finish = nulls(chunk('', '"stop"'));
    const done = 'data: [DONE]\n\n';
    expect(faults(nulls(role + text) + finish + usage + done, true)).toEqual([]);
    expect(faults(nulls(role + text) + finish + done, true)).not.toEqual([]);
    expect(faults(nulls(role + text) + usage + finish + done, true)).not.toEqual([]);
    expect(faults(role + text + finish + usage + done, true)).not.toEqual([]);
  });
});
