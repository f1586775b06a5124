// Reasoning with signatures across turns and across dialects (docs/fidelity.md#reasoning-state): what one provider
// signed comes back to it byte for byte, whichever dialect carried it, and goes to nobody else.
import { describe, expect, test } from 'vitest';
import { deliver } from './deliver.ts';
import { send } from './evaluate.ts';
import { carried, FORMAT, first, SIGNATURE, SIGNERS, secondTurn, THINKERS } from './turns.ts';
import { FAMILIES, RAW } from './types.ts';
import { wireOf } from './wires.ts';

const cells = SIGNERS.flatMap((family) => THINKERS.map((dialect) => ({ family, dialect })));

describe.each(cells)('a $dialect caller on $family', ({ family, dialect }) => {
  const answer = deliver(dialect, family, wireOf[family](first[family]));
  const turns = secondTurn(dialect, answer);

  test('sends the signature back to who made it, as it was', () => {
    for (const turn of turns) {
      const sent = send(dialect, family, turn);
      expect(sent.lost).toEqual([]);
      expect(sent.body).toMatchObject(carried[family]);
      expect(sent.text).not.toContain('svc1.');
    }
  });

  test.each(FAMILIES.filter((other) => FORMAT[other] !== FORMAT[family]))(
    'whoever moves to %s loses it, and the answer says so',
    (other) => {
      for (const turn of turns) {
        const sent = send(dialect, other, turn);
        // Chat sends its own bytes to compatible servers: the caller is responsible for what its history contains.
        if (RAW[dialect] === 'openai_chat' && other === 'openai_chat') continue;
        expect(sent.text).not.toContain(SIGNATURE);
        expect(sent.lost).toContain('hint:reasoning_signature_dropped');
        expect(sent.text).not.toContain('svc1.');
      }
    },
  );

  test.each(FAMILIES.filter((other) => other !== family && FORMAT[other] === FORMAT[family]))(
    'who moves to %s, of the same format, keeps it',
    (other) => {
      for (const turn of turns) {
        expect(send(dialect, other, turn).body).toMatchObject(carried[other as keyof typeof carried]);
      }
    },
  );
});
