// Content of a caller is either sent to the family that answers, or a loss of class `content` excludes the endpoint
// (docs/fidelity.md#losses): wherever in a conversation a part stands, on every family, nothing goes in silence.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Target } from '../../core/inference/canonical/contract.ts';
import type { CanonicalRequest, Message, Part, RoleName } from '../../core/inference/canonical/types.ts';
import { builtIn } from '../../core/inference/formats/index.ts';
import { encode } from './cross-cases.ts';
import { asked, target } from './gemini-cases.ts';

const { adapters } = builtIn;

const FAMILIES = [
  'openai_chat',
  'openai_responses',
  'anthropic_messages',
  'gemini',
  'bedrock_converse',
] as const;

const base64 = (text: string) => Buffer.from(text).toString('base64');

/** A part of each kind that says `mark`, in such bytes that it is found in whatever it becomes. */
const kinds: Record<string, (mark: string) => Part> = {
  text: (mark) => ({ type: 'text', text: mark }),
  refusal: (mark) => ({ type: 'refusal', text: mark }),
  image: (mark) => ({ type: 'image', src: { base64: base64(mark), media_type: 'image/png' } }),
  pdf: (mark) => ({ type: 'document', src: { base64: base64(mark), media_type: 'application/pdf' } }),
  note: (mark) => ({ type: 'document', title: `T${mark}`, src: { text: mark } }),
  found: (mark) => ({
    ...{ type: 'search_result', source: 'https://e.com', title: 'E' },
    content: [{ type: 'text', text: mark }],
  }),
};

const parts = fc.array(fc.constantFrom(...Object.keys(kinds)), { minLength: 1, maxLength: 3 });
const turns = fc.array(
  fc.record({ role: fc.constantFrom<RoleName>('system', 'user', 'assistant'), parts, called: fc.boolean() }),
  { minLength: 1, maxLength: 5 },
);

function conversation(wanted: { role: RoleName; parts: string[]; called: boolean }[]) {
  const marks: string[] = [];
  const of = (names: string[]): Part[] =>
    names.map((name) => {
      // Three bytes a group, so that its base64 is the same wherever it stands.
      const mark = `mark ${String(marks.push('') - 1).padStart(4, '0')}`;
      marks[marks.length - 1] = mark;
      return (kinds[name] as (mark: string) => Part)(mark);
    });
  const messages = wanted.flatMap(({ role, parts: names, called }, i): Message[] => {
    const message: Message = { role, content: of(names) };
    if (role !== 'assistant' || !called) return [message];
    const id = `call_${i}`;
    message.content.push({ type: 'tool_call', id, name: 'f', arguments: '{}', kind: 'function' });
    const content = of(names.filter((name) => name !== 'refusal'));
    return [message, { role: 'tool', content: [{ type: 'tool_result', tool_call_id: id, content }] }];
  });
  return { messages, marks };
}

test.each(FAMILIES)('%s', (family) => {
  const adapter = adapters.get(family);
  if (adapter === undefined) throw new Error(`no adapter for ${family}`);
  const to: Target = { ...target(), family, upstream_model: 'anthropic.claude' };
  let carried = 0;
  fc.assert(
    fc.property(turns, fc.boolean(), (wanted, lists_role) => {
      const { messages, marks } = conversation(wanted);
      const request: CanonicalRequest = asked({ dialect: 'native', messages });
      const listed = lists_role ? { parameters: ['system_role'] } : {};
      const endpoint = { ...to, capabilities: { ...to.capabilities, ...listed } };
      if (adapter.losses(request, endpoint).some((loss) => loss.class === 'content')) return;
      carried++;
      const body = JSON.stringify(encode(adapter, request, endpoint));
      for (const mark of marks) {
        expect([mark, body.includes(mark) || body.includes(base64(mark))]).toEqual([mark, true]);
      }
    }),
    { numRuns: 400 },
  );
  expect(carried).toBeGreaterThan(40);
});

test.each(['anthropic_messages', 'gemini', 'bedrock_converse'] as const)(
  '%s: an instruction with a picture is sent in a turn of the user, and that is reported',
  (family) => {
    const adapter = adapters.get(family);
    if (adapter === undefined) throw new Error(`no adapter for ${family}`);
    const image = (kinds['image'] as (mark: string) => Part)('mark');
    const messages: Message[] = [
      { role: 'system', content: [{ type: 'text', text: 'Be brief.' }] },
      { role: 'system', content: [{ type: 'text', text: 'The house style:' }, image] },
      { role: 'user', content: [{ type: 'text', text: 'Hi' }] },
    ];
    const to: Target = { ...target(), family, upstream_model: 'anthropic.claude' };
    const request = asked({ dialect: 'native', messages });
    expect(adapter.losses(request, to).map(({ code, param }) => [code, param])).toEqual([
      ['system_position_changed', 'messages[1]'],
    ]);
    const body = encode(adapter, request, to);
    const instruction = JSON.stringify(body.system ?? body.systemInstruction);
    expect(instruction).toContain('Be brief.');
    expect(instruction).not.toContain('house style');
    expect(JSON.stringify(body.messages ?? body.contents)).toContain(base64('mark'));
  },
);
