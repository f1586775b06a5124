import { expect, test } from 'vitest';
import { colour, snippets } from './snippets.ts';

const all = snippets({ base_url: 'https://gateway.example', model: 'sandbox/echo' });

test('colouring loses and adds no character of what will be pasted', () => {
  for (const { code } of all) {
    expect(
      colour(code)
        .map(([, text]) => text)
        .join(''),
    ).toBe(code);
  }
});

test('no snippet holds a key: each reads it from the environment', () => {
  for (const { code } of all) {
    expect(code).toContain('GATEWAY_API_KEY');
    expect(code).not.toMatch(/svc-(live|test)-/);
  }
});
