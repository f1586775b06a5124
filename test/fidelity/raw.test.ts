// The raw lanes: fields we do not know and numbers that no double holds pass as they are, up and down, streamed and
// whole.
import { describe, expect, test } from 'vitest';
import { chatEnd } from '../grammar/chat-fixtures.ts';
import { meta } from '../grammar/responses-cases.ts';
import { reported } from './answers.ts';
import { endpoint } from './endpoints.ts';
import { bodyOf, optionsFor, rawLaneOf, read } from './evaluate.ts';
import { tools } from './say.ts';
import { type Json, RAW } from './types.ts';
import { wireOf } from './wires.ts';

const BIG = '9007199254740993';
const DIGITS = '0.1000000000000000055511151231257827';
const UNKNOWN = `{"n":${BIG},"x":${DIGITS},"deep":[{"shade":"\\u0062lue","n":-${BIG}}]}`;

/** Text of a body whose member `shade` is `UNKNOWN`, written as no serializer of ours would write it. */
function spliced(body: Json): string {
  return JSON.stringify({ ...body, shade: 'here' }).replace('"here"', ` ${UNKNOWN}`);
}

const lanes = (['chat', 'responses', 'messages'] as const).map((dialect) => ({
  dialect,
  family: RAW[dialect]!,
}));

describe.each(lanes)('$dialect at $family', ({ dialect, family }) => {
  const target = endpoint(family);
  const body = bodyOf(dialect, { ...tools[dialect], stream: true });
  const request = read(dialect, body);
  const lane = rawLaneOf(dialect, target, request)!;

  test('sends unknown fields and long numbers up digit by digit', () => {
    const text = spliced(body);
    const bytes = Buffer.from(text);
    const { body: sent } = lane.request(bytes, request, target, optionsFor(request, true));
    expect(sent.toString()).toContain(`"shade": ${UNKNOWN}`);
    const {
      model: _model,
      stream_options: _options,
      store: _store,
      shade,
      ...rest
    } = JSON.parse(sent.toString());
    const { model: _asked, ...asked } = body;
    expect(rest).toMatchObject(asked);
    expect(shade).toBeDefined();
  });

  const call = { call: 'look', arguments: `{"id":${BIG}}` };
  const stop = { chat: 'tool_calls', responses: 'completed', messages: 'tool_use' }[dialect];
  const wire = wireOf[family]({ pieces: [{ text: 'Look.' }, call], stop, usage: reported[family] });

  test('brings unknown fields and long numbers of a whole answer down', () => {
    const answer = wire.whole.toString().replace(/\}$/, `,"shade":${UNKNOWN}}`);
    const whole = lane.whole(Buffer.from(answer), request, target);
    const text = whole.finish(meta, chatEnd(whole.usage)).toString();
    expect(text).toContain(`"shade":${UNKNOWN}`);
    expect(JSON.parse(text)).toMatchObject({ id: meta.request_id, model: meta.model, svc: {} });
  });

  test('brings unknown fields and long numbers of a stream down, however it is cut', () => {
    const events = wire.stream.toString().split('\n\n');
    const marked = events
      .map((event) => (event.includes('"Loo') ? event.replace(/\}$/, `,"shade":${UNKNOWN}}`) : event))
      .join('\n\n');
    for (const step of [7, 64, marked.length]) {
      const relay = lane.relay({ ...meta, include_usage: true }, request, target);
      let out = '';
      const bytes = Buffer.from(marked);
      for (let at = 0; at < bytes.length; at += step) {
        out += relay.push(Buffer.from(bytes.subarray(at, at + step))).toString();
      }
      out += relay.close().toString() + relay.end(chatEnd(relay.state.usage)).toString();
      expect(relay.state.fault).toBeNull();
      expect(out).toContain(`"shade":${UNKNOWN}`);
    }
  });
});

test('under drop, messages leaves a field out whose beta is not offered, and nothing else', () => {
  const target = endpoint('anthropic_messages');
  const mcp_servers = [{ type: 'url', url: 'https://a.example' }];
  const send = (compat: string) => {
    const body = bodyOf('messages', { ...tools.messages, mcp_servers, svc: { compat } });
    const text = spliced(body);
    const request = read('messages', { ...body, shade: 'here' });
    const lane = rawLaneOf('messages', target, request)!;
    return lane.request(Buffer.from(text), request, target, optionsFor(request, false)).body.toString();
  };
  const sent = send('drop');
  expect(sent).not.toContain('mcp_servers');
  expect(sent).toContain(`"shade": ${UNKNOWN}`);
  expect(JSON.parse(sent)).toMatchObject(tools.messages);
  expect(() => send('warn')).toThrow(
    expect.objectContaining({ code: 'unsupported_parameter', param: 'mcp_servers' }),
  );
});
