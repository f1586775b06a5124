// Changes by PATCH as values: whatever a directory sends, the rules of a schema hold afterwards, or it is refused.
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { ScimFault } from './fault.ts';
import { parseFilter } from './filter.ts';
import { patchedGroup } from './group-patch.ts';
import { type Operation, patched } from './patch.ts';
import { groupSchema, userSchema } from './schemas.ts';
import type { Element, Fields } from './values.ts';

const start: Fields = {
  userName: 'asha@acme.example',
  active: true,
  emails: [{ value: 'asha@acme.example', type: 'work', primary: true }],
};

/** What came of `work`; a refusal is a value here, anything else thrown is a defect. */
function outcome<T>(work: () => T): T | 'refused' {
  try {
    return work();
  } catch (error) {
    if (error instanceof ScimFault && error.status === 400) return 'refused';
    throw error;
  }
}

const path = fc.oneof(
  fc.constantFrom(
    ...[
      'userName',
      'ACTIVE',
      'emails',
      'emails[type eq "work"].value',
      'emails[primary eq true]',
      'name.givenName',
      'roles',
    ],
    ...[
      'emails[value eq "a@b.example"].type',
      'name',
      'members',
      'urn:x:y:z',
      'title',
      'groups',
      'id',
      '',
      'emails.value',
    ],
  ),
  fc.string(),
);
const value = fc.oneof(
  fc.jsonValue(),
  fc.constantFrom<unknown>(
    'True',
    false,
    { value: 'a@b.example', primary: true },
    [{ value: 'c@d.example', type: 'work' }],
    'e@f.example',
    { givenName: 'A' },
    null,
  ),
);
const operation: fc.Arbitrary<Operation> = fc.record({
  op: fc.constantFrom('add', 'replace', 'remove'),
  path: fc.option(path),
  value: fc.option(value, { nil: undefined }),
});

test('after any operations a user keeps name and form, or all of them are refused', () => {
  fc.assert(
    fc.property(fc.array(operation, { maxLength: 6 }), (operations) => {
      const before = structuredClone(start);
      const after = outcome(() => patched(userSchema, start, 'usr_1', operations));
      expect(start).toEqual(before);
      if (after === 'refused') return;
      const known = userSchema.attributes.map(({ name }) => name);
      for (const name of Object.keys(after)) expect(known).toContain(name);
      expect(typeof after['userName']).toBe('string');
      expect(['boolean', 'undefined']).toContain(typeof after['active']);
      for (const name of ['emails', 'roles']) {
        const elements = (after[name] ?? []) as Element[];
        for (const element of elements) expect(typeof element['value']).toBe('string');
        expect(elements.filter(({ primary }) => primary === true).length).toBeLessThan(2);
      }
    }),
    { numRuns: 2_000 },
  );
});

test('a change of members is what its operations give one after the other', () => {
  const id = fc.constantFrom<string>('usr_a', 'usr_b', 'usr_c', 'usr_d');
  const step = fc.oneof(
    fc.record({ op: fc.constant('add' as const), ids: fc.array(id) }),
    fc.record({ op: fc.constant('remove' as const), ids: fc.array(id) }),
    fc.record({ op: fc.constant('replace' as const), ids: fc.array(id) }),
  );
  fc.assert(
    fc.property(fc.uniqueArray(id), fc.array(step, { maxLength: 6 }), (present, steps) => {
      const operations = steps.map(({ op, ids }) => ({
        op,
        path: 'members',
        value: ids.map((one) => ({ value: one })),
      }));
      const { members } = patchedGroup({ displayName: 'x' }, 'grp_1', operations);
      const wanted = new Set(present);
      for (const { op, ids } of steps) {
        if (op === 'replace') wanted.clear();
        for (const one of ids) op === 'remove' ? wanted.delete(one) : wanted.add(one);
      }
      const got = new Set(members.from_none ? [] : present);
      for (const one of members.remove) got.delete(one);
      for (const one of members.add) got.add(one);
      expect([...got].sort()).toEqual([...wanted].sort());
    }),
  );
});

test('a filter of any text is understood or refused, soon', () => {
  const piece = fc.constantFrom(
    'userName',
    ' eq ',
    '"a"',
    ' and ',
    'emails[',
    ']',
    '.value',
    '"',
    '\\',
    'true',
    'type eq "x"',
    '(',
    ' ',
  );
  fc.assert(
    fc.property(
      fc.oneof(
        fc.string(),
        fc.array(piece, { maxLength: 40 }).map((all) => all.join('')),
      ),
      (text) => {
        for (const schema of [userSchema, groupSchema]) outcome(() => parseFilter(schema, text));
      },
    ),
    { numRuns: 2_000 },
  );
});
