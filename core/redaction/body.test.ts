import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { redactBytes } from './bytes.ts';
import { redactBody } from './pool.ts';
import { Redactor } from './redactor.ts';
import { presets } from './types.ts';

const org_id = 'org_one';
const redactor = new Redactor({ presets, patterns: [] });
const run = (text: string, spared: string[] = []) => redactBytes(redactor, Buffer.from(text), spared);
const out = (text: string, spared: string[] = []) => run(text, spared).body.toString();

describe('a redacted body', () => {
  it('keeps every byte but those of the strings that changed', () => {
    const before =
      '{ "n" : 1.50e+2,"big":9007199254740993 , "t":"write to a\\u0040b.co \\u00e9\\/ok", "a@b.co":null,\n "u":"\\u0041\\/"}';
    expect(out(before)).toBe(
      '{ "n" : 1.50e+2,"big":9007199254740993 , "t":"write to [REDACTED:email] é/ok", "a@b.co":null,\n "u":"\\u0041\\/"}',
    );
  });

  it('is the very same buffer where nothing was found', () => {
    const body = Buffer.from('{"messages":[{"role":"user","content":"héllo \\n \\"x\\""}],"n":1.0}');
    expect(redactBytes(redactor, body, []).body).toBe(body);
  });

  it('keeps media whose base64 is in lines, and looks at what stands behind them', () => {
    for (const [width, end] of [
      [76, '\n'],
      [76, '\r\n'],
      [64, '\n'],
    ] as const) {
      const line = 'iVBORw0K'.repeat(10).slice(0, width);
      const data = `${`${line}${end}`.repeat(25_000)}iVBORw0KGg==${end}`;
      const text = `A question that is longer than what the reserve is for, from a@b.co: what is in this image?`;
      const ask = (question: string) => ({
        messages: [
          { role: 'user', content: [{ type: 'image', source: { type: 'base64', data } }] },
          {
            role: 'user',
            content: [{ type: 'image_url', image_url: { url: `data:image/png;base64,${data}` } }],
          },
          { role: 'user', content: question },
        ],
      });
      const { body, redactions, unscanned } = run(JSON.stringify(ask(text)));
      expect([redactions, unscanned]).toEqual([1, 0]);
      expect(body.toString()).toBe(JSON.stringify(ask(text.replace('a@b.co', '[REDACTED:email]'))));
    }
    // Lists of secrets are no media.
    const keys = `sk-${'a'.repeat(40)}\n`.repeat(30);
    expect(out(JSON.stringify({ data: keys }))).not.toContain('aaaa');
  });

  it('is what JSON.parse of it says, redacted, for any document', () => {
    const planted = fc.constantFrom(
      'a@b.co',
      'x',
      '4111111111111111 ',
      'say "hi" \\ to a@b.co',
      'é a@b.co 😀',
      '\u2028a@b.co',
    );
    const documents = fc.letrec((tie) => ({
      value: fc.oneof(
        { depthSize: 'small' },
        planted,
        fc.double(),
        fc.boolean(),
        fc.constant(null),
        fc.array(tie('value'), { maxLength: 4 }),
        fc.dictionary(
          fc.oneof(fc.string(), fc.constantFrom('text', 'content', 'a@b.co', 'k"ey')),
          tie('value'),
        ),
      ),
    })).value;
    const expected = (value: unknown): unknown => {
      if (typeof value === 'string') {
        return value
          .replaceAll('a@b.co', '[REDACTED:email]')
          .replaceAll('4111111111111111', '[REDACTED:card]');
      }
      if (Array.isArray(value)) return value.map(expected);
      if (value === null || typeof value !== 'object') return value;
      return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, expected(member)]));
    };
    fc.assert(
      fc.property(documents, fc.boolean(), (document, spaced) => {
        const text = JSON.stringify(document, null, spaced ? 2 : 0);
        expect(JSON.parse(out(text))).toEqual(expected(JSON.parse(text)));
      }),
      { numRuns: 500 },
    );
  });

  it('leaves alone what steers the call and what the provider must find unchanged', () => {
    const image = Buffer.from('a@b.co'.repeat(400)).toString('base64');
    const digits = 'QUtJQUlPU0ZPRE5ON0VYQU1QTEU+9198765432/'.repeat(60);
    const same = {
      model: 'acme/9876543210',
      user: 'a@b.co',
      metadata: { user_id: 'a@b.co' },
      svc: { route: { providers: { only: ['a@b.co'] } } },
      messages: [
        {
          role: 'assistant',
          tool_calls: [{ id: 'call_1-9876543210', type: 'function', function: { name: 'f' } }],
        },
        { role: 'tool', tool_call_id: '9876543210', content: 'x' },
        {
          role: 'user',
          content: [{ type: 'image_url', image_url: { url: `data:image/png;base64,${image}` } }],
        },
        { role: 'user', content: [{ type: 'image', source: { type: 'base64', data: digits } }] },
        { role: 'assistant', content: [{ type: 'thinking', thinking: 'x', signature: digits }] },
      ],
    };
    const text = JSON.stringify(same);
    expect(out(text, ['model', 'user', 'metadata.user_id', 'svc.route'])).toBe(text);
    expect(out('{"metadata":{"user_id":"a@b.co"},"a":{"user":"a@b.co"}}', ['user'])).not.toContain('a@b.co');
  });

  it('looks into what only pretends to be media, an id or a word of the format', () => {
    const long = 'lorem ipsum '.repeat(200);
    for (const text of [
      `{"source":{"type":"text","data":"${long} a@b.co"}}`,
      '{"source":{"type":"text","data":"AKIAIOSFODNN7EXAMPLE"}}',
      '{"url":"data:text/plain;base64,a@b.co"}',
      '{"url":"data:text/plain,AKIAIOSFODNN7EXAMPLE"}',
      '{"tool_call_id":"a@b.co"}',
      '{"id":"AKIAIOSFODNN7EXAMPLE"}',
      '{"type":"a@b.co"}',
      '{"c":[{"type":"tool_use","input":{"id":"call_x.4111111111111111","type":"x","role":"y"}}]}',
      '{"c":[{"type":"tool_use","input":{"tool_call_id":"4111111111111111"}}]}',
      '{"metadata":{"role":"4111111111111111"}}',
      '{"svc":{"metadata":{"call_id":"4111111111111111"}}}',
    ]) {
      expect(out(text), text).toMatch(/\[REDACTED:(?:email|api_key|card)\]/);
      expect(out(text)).not.toMatch(/a@b\.co|AKIA|4111/);
    }
  });

  it('stays JSON where a number in the arguments of a tool call is a card', () => {
    const args = '{"card": 4111111111111111, "n": 1.50, "who": "a@b.co", "id": "9876543210"}';
    const body = { messages: [{ tool_calls: [{ function: { name: 'pay', arguments: args } }] }] };
    const { messages } = JSON.parse(out(JSON.stringify(body)));
    expect(messages[0].tool_calls[0].function.arguments).toBe(
      '{"card": "[REDACTED:card]", "n": 1.50, "who": "[REDACTED:email]", "id": "[REDACTED:phone]"}',
    );
    expect(out('{"arguments":" {\\"card\\":4111111111111111}"}')).toBe(
      '{"arguments":" {\\"card\\":\\"[REDACTED:card]\\"}"}',
    );
    expect(out('{"arguments":"{\\"half\\": a@b.co"}')).toBe('{"arguments":"{\\"half\\": [REDACTED:email]"}');
  });

  it('stays JSON where a number in the input of a tool call is a card, and leaves other numbers alone', () => {
    const text =
      '{"n":4111111111111111,"messages":[{"content":[{"type":"tool_use","input":{"card":4111111111111111,"n":1.50}}]}]}';
    expect(out(text)).toBe(text.replace('"card":4111111111111111', '"card":"[REDACTED:card]"'));
    const schema =
      '{"tools":[{"input_schema":{"properties":{"input":{"type":"integer","maximum":9999999999}}}}]}';
    expect(out(schema)).toBe(schema);
    const tokens = '{"input":[[4111111111111111]]}';
    expect(out(tokens)).toBe(tokens);
  });

  it('takes time in proportion to its length, however deep it is and however many matches it has', () => {
    const hostile = [
      '["a",'.repeat(150_000),
      '{"a":['.repeat(100_000),
      JSON.stringify(['a@b.co '.repeat(149_000)]),
      JSON.stringify(['[REDACTED:card] '.repeat(60_000)]),
    ];
    for (const text of hostile) {
      const from = performance.now();
      out(text);
      // Quadratic would be a minute.
      expect([text.slice(0, 12), performance.now() - from < 15_000]).toEqual([text.slice(0, 12), true]);
    }
  });

  it('comes back as it is when it is no JSON: whoever parses it says so', () => {
    for (const text of ['', '{"a":"a@b.co', '{"a":"\\u00zz a@b.co"}']) expect(out(text)).toBe(text);
  });

  it('is the text that was looked at where the bytes are no UTF-8', () => {
    const body = Buffer.concat([Buffer.from('{"a":"x'), Buffer.from([0xff]), Buffer.from('"}')]);
    expect(redactBytes(redactor, body, []).body.toString()).toBe('{"a":"x\ufffd"}');
  });

  it('drops the text behind the budget and keeps the words that make it a request', () => {
    const long = 'lorem ipsum '.repeat(100_000);
    const text = JSON.stringify({
      messages: [
        { role: 'user', content: long },
        { role: 'user', content: `${long} a@b.co` },
        { role: 'user', content: 'short: a@b.co' },
      ],
    });
    const { body, unscanned } = run(text);
    const { messages } = JSON.parse(body.toString());
    expect(messages.map((message: { role: string }) => message.role)).toEqual(['user', 'user', 'user']);
    expect(messages[0].content).toHaveLength(1_048_576 - 4_096 + 20);
    expect(messages[1].content).toBe('[REDACTED:unscanned]');
    expect(messages[2].content).toBe('short: [REDACTED:email]');
    expect(unscanned).toBe(long.length - (1_048_576 - 4_096) + long.length + 7);
  });
});

describe('patterns', () => {
  it('run in a worker, and the body comes back with what they found', async () => {
    const settings = { presets: ['email'], patterns: ['PRJ-\\d+'] } as const;
    const body = Buffer.from('{"a":"PRJ-17 of a@b.co"}');
    const made = redactBody(settings, body, { org_id });
    expect(made).toBeInstanceOf(Promise);
    expect(await made).toEqual({
      body: Buffer.from('{"a":"[REDACTED:pattern_1] of [REDACTED:email]"}'),
      redactions: 2,
      unscanned: 0,
    });
    const clean = Buffer.from('{"a":"nothing"}');
    expect((await redactBody(settings, clean, { org_id })).body).toBe(clean);
  });

  it('that take too long on a text end the call, not the process, and others are served after them', async () => {
    // Each search walks the whole rest before it settles for one letter.
    const slow = { presets: [], patterns: ['a.*b|a'] };
    const body = Buffer.from(JSON.stringify(['a'.repeat(400_000)]));
    let ticks = 0;
    const clock = setInterval(() => ticks++, 20);
    const refused = redactBody(slow, body, { org_id });
    const served = redactBody({ presets: [], patterns: ['x'] }, Buffer.from('["x"]'), { org_id });
    await expect(refused).rejects.toMatchObject({ code: 'invalid_pattern' });
    expect((await served).body.toString()).toBe('["[REDACTED:pattern_1]"]');
    clearInterval(clock);
    // Two seconds of a hundred ticks; on this thread it would be none.
    expect(ticks).toBeGreaterThan(3);
  });
});
