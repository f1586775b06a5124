import { expect, test } from 'vitest';
import { placeAt, type Schema, schemaAt, suggestionsAt } from './schema-path.ts';

const actions: Record<string, Schema> = {
  sort: { type: 'string', enum: ['price', 'latency'], description: 'What is best.' },
  fallbacks: { type: 'boolean' },
  require: {
    type: 'object',
    properties: { regions: { type: 'array', items: { type: 'string' } }, zdr: { type: 'boolean' } },
  },
  lock: { type: 'array', items: { type: 'string', enum: ['sort', 'providers'] } },
};
const schema: Schema = {
  type: 'object',
  properties: {
    sort: actions['sort'] as Schema,
    defaults: { type: 'object', properties: actions },
    rules: {
      type: 'array',
      items: {
        type: 'object',
        properties: {
          ...actions,
          match: {
            type: 'object',
            properties: {
              models: { type: 'array', items: { type: 'string' } },
              has: { type: 'array', items: { type: 'string', enum: ['tools'] } },
              metadata: { type: 'object', additionalProperties: { type: 'array', items: {} } },
            },
          },
        },
      },
    },
  },
};
const labels = (text: string) => suggestionsAt(schema, placeAt(text)).map(({ label }) => label);
const path = (text: string) => placeAt(text).path.join('.');

test('an empty text and an empty line at the margin offer the keys of the document', () => {
  expect(labels('')).toEqual(['sort', 'defaults', 'rules']);
  expect(labels('sort: price\n')).toEqual(['sort', 'defaults', 'rules']);
  expect(labels('defaults:\n  sort: price\nru')).toEqual(['sort', 'defaults', 'rules']);
});

test('the column says in which block a key is written, over empty lines and comments', () => {
  expect(path('defaults:\n  ')).toBe('defaults');
  expect(path('defaults:\n  require:\n    zdr: true\n\n    # of Europe\n    ')).toBe('defaults.require');
  expect(path('defaults:\n  require:\n    zdr: true\n  ')).toBe('defaults');
  expect(labels('defaults:\n  require:\n    z')).toEqual(['regions', 'zdr']);
});

test('a rule is a list item, whether its dash is indented or not', () => {
  for (const dash of ['- ', '  - ', '    - ']) {
    const under = ' '.repeat(dash.length);
    expect(path(`rules:\n${dash}`)).toBe('rules');
    expect(path(`rules:\n${dash}name: a\n${under}match:\n${under}  `)).toBe('rules.match');
    expect(path(`rules:\n${dash}match:\n${under}  has: [tools]\n${dash}`)).toBe('rules');
    expect(labels(`rules:\n${dash}so`)).toContain('match');
  }
});

test('a value is offered from its enumeration, in a list too', () => {
  expect(labels('sort: ')).toEqual(['price', 'latency']);
  expect(labels('defaults:\n  fallbacks: t')).toEqual(['true', 'false']);
  expect(labels('defaults:\n  lock: [sort, ')).toEqual(['sort', 'providers']);
  expect(labels('defaults:\n  lock:\n    - ')).toEqual(['sort', 'providers']);
  expect(labels('sort: price\ndefaults:\n  require: {regions: [eu], zdr: ')).toEqual(['true', 'false']);
});

test('brackets are followed over lines, and closed ones are left', () => {
  expect(path('defaults: {require: {')).toBe('defaults.require');
  expect(path('defaults: {require: {zdr: true}, ')).toBe('defaults');
  expect(path('rules: [{match: {has: [tools]},\n  ')).toBe('rules');
  expect(labels('defaults: {require: {zdr: true}, so')).toContain('lock');
  expect(path('defaults: {sort: price}\n')).toBe('');
});

test('a key that the language does not have offers nothing, and metadata has keys of its own', () => {
  expect(labels('nonsense:\n  ')).toEqual([]);
  expect(schemaAt(schema, ['rules', 'match', 'metadata', 'tier'])?.type).toBe('array');
  expect(schemaAt(schema, ['defaults', 'sort'])?.description).toBe('What is best.');
});
