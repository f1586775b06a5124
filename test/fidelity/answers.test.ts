// Answers: content, stop reason and usage of each family, as a caller of each dialect reads them. A stream and a whole
// answer must have the same content, and every stream follows its grammar.
import { describe, expect, test } from 'vitest';
import { contents, counted, reported, stops, usageIn } from './answers.ts';
import { deliver } from './deliver.ts';
import { type Heard, listeners } from './hear.ts';
import { DIALECTS, type Dialect, FAMILIES, type GenerationFamily, type Json } from './types.ts';
import { type Said, wireOf } from './wires.ts';

/** What the caller reads, the same in every mode. */
function heard(dialect: Dialect, family: GenerationFamily, said: Said, more: Json = {}): Heard {
  const { hear, fold, faults } = listeners[dialect];
  const { raw, stream, whole, decoded } = deliver(dialect, family, wireOf[family](said), more);
  expect(faults(stream, raw)).toEqual([]);
  const streamed = hear(fold(stream));
  expect(hear(whole)).toEqual(streamed);
  if (decoded !== null) expect(hear(decoded)).toEqual(streamed);
  return streamed;
}

const NOTHING = { text: '', reasoning: '', refusal: '', calls: [], cites: [], logprobs: [], images: [] };

describe.each(contents)('$name', ({ pieces, stops: words, heard: expected, except }) => {
  const cells = FAMILIES.flatMap((family) =>
    words[family] === undefined ? [] : DIALECTS.map((dialect) => ({ family, dialect })),
  );
  test.each(cells)('$family as $dialect hears it', ({ family, dialect }) => {
    const said = { pieces, stop: words[family] as string, usage: reported[family] };
    const want = { ...NOTHING, ...(except?.[dialect] ?? expected) };
    expect(heard(dialect, family, said)).toMatchObject(want);
  });
});

describe.each(stops)('an answer that ends for $reason', ({ from, to, warns }) => {
  const cells = FAMILIES.flatMap((family) => DIALECTS.map((dialect) => ({ family, dialect })));
  test.each(cells.filter(({ family }) => from[family] !== undefined))(
    '$family as $dialect hears it',
    ({ family, dialect }) => {
      for (const stop of from[family] ?? []) {
        const more = dialect === 'responses' ? {} : STOPS[dialect];
        const said = { pieces: [{ text: 'One.' }], stop, usage: reported[family] };
        const { text, stop: word, warnings } = heard(dialect, family, said, more);
        expect({ stop, text, word }).toEqual({ stop, text: 'One.', word: to[dialect] });
        const warned = warns?.[dialect];
        const same = dialect === 'messages' && family === 'anthropic_messages';
        if (warned !== undefined && !same) expect(warnings).toContain(warned);
        else expect(warnings).toEqual([]);
      }
    },
  );
});

/** One stop sequence, so that a family that does not say which one it met leaves no doubt. */
const STOPS: Readonly<Record<Exclude<Dialect, 'responses'>, Json>> = {
  chat: { stop: ['END'] },
  messages: { stop_sequences: ['END'] },
  completions: { stop: ['END'] },
  native: { generation: { stop: ['END'] } },
};

test.each(['anthropic_messages', 'bedrock_converse'] as const)('%s names the sequence it met', (family) => {
  const said = { pieces: [{ text: 'One.' }], stop: 'stop_sequence', usage: reported[family] };
  const { whole } = deliver('messages', family, wireOf[family](said), STOPS.messages);
  expect(whole).toMatchObject({ stop_reason: 'stop_sequence', stop_sequence: 'END' });
});

describe.each(FAMILIES)('usage of %s', (family) => {
  test.each(DIALECTS)('in the words of %s', (dialect) => {
    const said = {
      pieces: [{ text: 'One.' }],
      stop: contents[0]?.stops[family] as string,
      usage: reported[family],
    };
    const { cache_creation, ...usage } = usageIn[dialect](counted[family]);
    expect(heard(dialect, family, said).usage).toMatchObject(usage);
    if (cache_creation === undefined) return;
    expect(deliver(dialect, family, wireOf[family](said)).whole['usage']).toMatchObject({ cache_creation });
  });
});
