import { describe, expect, it } from 'vitest';
import { checkNativeStream, readNativeStream } from './native.ts';

let seq = 0;
const event = (type: string, members: string): string =>
  `event: ${type}\ndata: {"type":"${type}","seq":${seq++}${members}}\n\n`;
const meta = '"provider_meta":{"provider":"p","endpoint_id":"e","region":"r","attempt":1}';
const usage =
  '"usage":{"input_tokens":1,"output_tokens":1,"cache_read_tokens":0,"cache_write_tokens":0,"reasoning_tokens":0}';
const money = `${usage},"cost":{"total_micro_usd":1}`;
const start = () => event('start', `,"id":"R","model":"m","created":1,${meta}`);
const open = (part = 0, content = '{"type":"text","text":""}') =>
  event('part_start', `,"candidate":0,"part":${part},"content":${content}`);
const delta = (member = '"text":"a"', part = 0) =>
  event('part_delta', `,"candidate":0,"part":${part},${member}`);
const close = (part = 0) => event('part_stop', `,"candidate":0,"part":${part}`);
const stop = (said = '{"reason":"end_turn","sequence":null,"detail":null}') =>
  event('stop', `,"candidate":0,"stop":${said}`);
const end = () => event('end', `,${money},"resolved":{},${meta},"timing":{},"warnings":[]`);
const error = () =>
  event(
    'error',
    `,"error":{"message":"m","type":"t","code":"c","param":null,"request_id":"R","details":{}},${money}`,
  );

/** The parts of a stream, made in order so that `seq` rises. */
function stream(...parts: (() => string)[]): string {
  seq = 0;
  return parts.map((part) => part()).join('');
}

describe('the grammar checker of native streams', () => {
  it('accepts legal streams', () => {
    const whole = stream(start, open, delta, close, stop, end);
    expect(checkNativeStream(whole)).toEqual([]);
    expect(checkNativeStream(`: svc keep-alive\n\n${whole}`)).toEqual([]);
    expect(checkNativeStream(stream(start, open, delta, error))).toEqual([]);
    expect(checkNativeStream(stream(start, () => stop('null'), end))).toEqual([]);
    expect(readNativeStream(whole)).toMatchObject({ id: 'R', candidates: [{ content: [{ text: 'a' }] }] });
  });

  it.each<[string, () => string]>([
    ['no start', () => stream(open, delta, close, stop, end)],
    ['a second start', () => stream(start, start, stop, end)],
    ['no end', () => stream(start, open, delta, close, stop)],
    ['something after the end', () => stream(start, stop, end, open)],
    ['an end after an error', () => stream(start, error, end)],
    ['a gap in seq', () => stream(start, stop, end).replace('"seq":2', '"seq":3')],
    [
      'a part inside another',
      () =>
        stream(
          start,
          open,
          () => open(1),
          () => close(1),
          stop,
          end,
        ),
    ],
    [
      'a part that skips',
      () =>
        stream(
          start,
          () => open(1),
          () => close(1),
          stop,
          end,
        ),
    ],
    ['a delta of no part', () => stream(start, delta, stop, end)],
    [
      'a delta of two members',
      () => stream(start, open, () => delta('"text":"a","data":"b"'), close, stop, end),
    ],
    ['an unknown member', () => stream(start, open, () => delta('"text":"a","more":1'), close, stop, end)],
    [
      'a part that begins with text',
      () => stream(start, () => open(0, '{"type":"text","text":"x"}'), close, stop, end),
    ],
    ['a stop inside a part', () => stream(start, open, stop, end)],
    ['no stop', () => stream(start, open, delta, close, end)],
    ['content after the stop', () => stream(start, stop, open, close, end)],
    [
      'an unknown reason',
      () => stream(start, () => stop('{"reason":"x","sequence":null,"detail":null}'), end),
    ],
    ['no candidate', () => stream(start, end)],
    ['another event name', () => stream(start, stop, end).replace('event: stop', 'event: end')],
    ['carriage returns', () => stream(start, stop, end).replaceAll('\n', '\r\n')],
    ['broken JSON', () => stream(start, stop, end).replace('"seq":1', '"seq":')],
  ])('finds %s', (_name, bytes) => {
    expect(checkNativeStream(bytes())).not.toEqual([]);
  });
});
